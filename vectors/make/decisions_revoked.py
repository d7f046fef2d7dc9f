# SPDX-License-Identifier: CC0-1.0
"""Decisions on certificates that the list revokes."""
from decisions_vectors import AT, LEAF, MIDDLE, OTHER, ROOT, STRANGER, UNREADABLE, asked, case, entry, said
from material import Certificate, elements, with_serial

SOURCE = "formats.md, sections 3.2 and 4"


def serial(certificate):
    """The content octets of a certificate's serial number, in hex."""
    return elements(elements(elements(certificate)[0][1])[0][1])[1][1].hex()


def revoke(issuer, *certificates, **members):
    """An element of `revoked`: certificates, or serial numbers in hex."""
    return {"issuer": issuer.pin, "serials": [one if isinstance(one, str) else serial(one.der) for one in certificates]} | members


def found(certificate, issuer, index):
    return {"revoked": {"issuer": issuer.pin, "serial": serial(certificate.der), "index": index}}


def cases():
    for one in places():
        yield case(*one, source=SOURCE)


def places():
    pinned = [entry(LEAF.pin)]
    leaf, middle = revoke(MIDDLE, LEAF), revoke(ROOT, MIDDLE)
    refused = said("block", "revoked", True)
    yield "revoked-leaf", "a certificate that its issuer took back, although its key is pinned", asked(
        pinned, revoked=[leaf]), refused | found(LEAF, MIDDLE, 0)
    yield "revoked-intermediate", "an intermediate", asked(pinned, revoked=[middle]), refused | found(MIDDLE, ROOT, 1)
    yield "revoked-which-is-told", "of several the one nearest to the leaf is told", asked(
        pinned, revoked=[middle, leaf]), refused | found(LEAF, MIDDLE, 0)
    match = said("allow", "pin-match", True, matched=(LEAF.pin, 0))
    yield "revoked-anchor", "an anchor is trusted as it is: no issuer takes it back", asked(
        pinned, revoked=[revoke(ROOT, ROOT)]), match
    yield "revoked-of-another-issuer", "the serial number alone names nothing: another issuer has the same", asked(
        pinned, revoked=[revoke(ROOT, LEAF), revoke(OTHER, LEAF)]), match
    yield "revoked-of-the-leaf", "the issuer is the next certificate, and not the certificate itself", asked(
        pinned, revoked=[revoke(LEAF, LEAF)]), match
    yield "revoked-another-serial", "another certificate of the issuer", asked(pinned, revoked=[revoke(MIDDLE, OTHER)]), match
    yield "revoked-issuer-of-another-form", "an issuer whose pin has a form to come names nothing", asked(
        pinned, revoked=[leaf | {"issuer": "sha3-256/x"}]), match
    stop = {"domain": "*", "until": "2026-01-05T00:00:00Z", "reason": "x"}
    yield "revoked-although-suspended", "revoked certificates are refused under any suspension", asked(
        pinned, at="2026-01-02T00:00:00Z", suspended=[stop], revoked=[leaf]), refused | found(LEAF, MIDDLE, 0)
    yield "revoked-although-unlisted", "and for hosts that no entry covers", asked(
        pinned, host="other.example", revoked=[leaf]), said(
            "block", "revoked", True, noted=None, host="other.example") | found(LEAF, MIDDLE, 0)
    for name, members in [("report", {"mode": "report"}), ("off", {"mode": "off"}), ("outside-rollout", {"rollout": 0}),
                          ("domain-expired", {"expiresAt": AT})]:
        yield f"revoked-although-{name}", "in every mode and for every share", asked(
            [entry(LEAF.pin, **members)], revoked=[leaf]), refused | found(LEAF, MIDDLE, 0)
    yield "revoked-before-mismatch", "it is told before a mismatch", asked(
        [entry(STRANGER)], revoked=[leaf]), refused | found(LEAF, MIDDLE, 0)
    yield "denied-before-revoked", "a denied key is told before it", asked(
        pinned, denied=[LEAF.pin], revoked=[leaf]), said("block", "denied-key", True, denied=(LEAF.pin, 0))
    report = leaf | {"mode": "report"}
    yield "revoked-reported", "an element that only reports", asked(pinned, revoked=[report]), match | found(LEAF, MIDDLE, 0)
    yield "revoked-reported-mismatch", "what is reported changes no reason", asked(
        [entry(STRANGER)], revoked=[report]), said("block", "no-matching-pin", True) | found(LEAF, MIDDLE, 0)
    yield "revoked-reported-and-enforced", "one that enforces goes before one that reports", asked(
        pinned, revoked=[report, middle]), refused | found(MIDDLE, ROOT, 1)
    yield "revoked-and-denied-reported", "both are told", asked(
        pinned, denied=[{"pin": ROOT.pin, "mode": "report"}], revoked=[leaf]), said(
            "block", "revoked", True, denied=(ROOT.pin, 2)) | found(LEAF, MIDDLE, 0)
    yield "revoked-response", "the answer that came over another host's connection", asked(
        pinned, extra={"transport": "other-host-connection"}, revoked=[leaf]), refused | found(LEAF, MIDDLE, 0)
    broken = (LEAF, UNREADABLE, ROOT)
    elsewhere = revoke(ROOT, OTHER)
    yield "revoked-undecidable", "a certificate that cannot be read beside an element that enforces", asked(
        pinned, broken, revoked=[elsewhere]), said("block", "denied-undecidable", True, path=broken)
    yield "revoked-reported-undecidable", "elements that only report block nothing", asked(
        pinned, broken, revoked=[elsewhere | {"mode": "report"}]), said(
            "allow", "pin-match", True, path=broken, matched=(LEAF.pin, 0))
    for name, why, octets in [("not-shortest", "a serial number that is not in the one form of DER", b"\0\1"),
                              ("empty", "a serial number without an octet", b"")]:
        odd = (with_serial(LEAF.der, octets), MIDDLE, ROOT)
        yield f"revoked-serial-{name}", why, asked(pinned, odd, revoked=[elsewhere]), _shown(
            "block", "denied-undecidable", LEAF.pin)
        anchor = (LEAF, MIDDLE, with_serial(ROOT.der, octets))
        yield f"revoked-serial-of-the-anchor-{name}", "of an anchor no serial number is looked at", asked(
            pinned, anchor, revoked=[revoke(ROOT, OTHER)]), _shown("allow", "pin-match", LEAF.pin, (LEAF.pin, 0))
    for name, why, octets in [("zero", "the serial number 0", b"\0"), ("negative", "a negative one", b"\x80"),
                              ("leading-zero", "twenty octets behind a zero", b"\0" + b"\xff" * 20),
                              ("64-octets", "the longest", b"\x11" * 64)]:
        odd = (with_serial(LEAF.der, octets), MIDDLE, ROOT)
        yield f"revoked-serial-{name}", why, asked(pinned, odd, revoked=[revoke(MIDDLE, octets.hex())]), _shown(
            "block", "revoked", LEAF.pin) | {"revoked": {"issuer": MIDDLE.pin, "serial": octets.hex(), "index": 0}}
    long = (with_serial(LEAF.der, b"\x11" * 65), MIDDLE, ROOT)
    yield "revoked-serial-65-octets", "one octet more is no serial number that a list can name", asked(
        pinned, long, revoked=[revoke(MIDDLE, "11" * 64)]), _shown("allow", "pin-match", LEAF.pin, (LEAF.pin, 0))
    again = Certificate("decisions intermediate", ROOT, authority=True, key=MIDDLE.key, serial=77)
    yield "revoked-renewed-intermediate", "another certificate for the intermediate's key is not the one that was taken back", (
        asked(pinned, (LEAF, again, ROOT), revoked=[middle])), said(
            "allow", "pin-match", True, path=(LEAF, again, ROOT), matched=(LEAF.pin, 0))


def _shown(verdict, reason, leaf, matched=None):
    """A decision on a path whose first key is the leaf's: openssl reads no certificate with such a serial number."""
    return said(verdict, reason, True, matched=matched) | {"path": [leaf, MIDDLE.pin, ROOT.pin]}
