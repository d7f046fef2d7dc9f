# SPDX-License-Identifier: CC0-1.0
"""decisions.json: list, validated path, host and time give a decision."""
import hashlib

from material import Case, Certificate, b64, compact, openssl_pin, pin, write
from metadata_material import NAME, list_payload

SOURCE = "formats.md, section 4"
AT = "2026-01-10T00:00:00Z"
ROOT = Certificate("decisions root", authority=True)
MIDDLE = Certificate("decisions intermediate", ROOT, authority=True)
LEAF = Certificate("decisions leaf", MIDDLE, ["api.example.com"])
RENEWED = Certificate("decisions leaf renewed", MIDDLE, ["api.example.com"], key=LEAF.key)
OTHER = Certificate("decisions other", MIDDLE, ["other.example"])
FOREIGN_ROOT = Certificate("decisions foreign root", authority=True)
FOREIGN = Certificate("decisions foreign leaf", FOREIGN_ROOT, ["api.example.com"])
UNREADABLE = b"\x30\x03\x02\x01\x00"
PATH = (LEAF, MIDDLE, ROOT)
STRANGER = pin(b"a key that is in no path")
# Installations whose place for api.example.com is 0 and 99, found by counting up.


def place(installation, name, domain):
    data = installation + b"\0" + name.encode() + b"\0" + domain.encode()
    return int.from_bytes(hashlib.sha256(data).digest()[:8], "big") % 100


def installation_at(wanted, name=NAME, domain="api.example.com"):
    count = 0
    while place(count.to_bytes(16, "big"), name, domain) != wanted:
        count += 1
    return count.to_bytes(16, "big").hex()


def entry(*pins, domain="api.example.com", **members):
    """An entry; a pin is a text, or (text, position)."""
    listed = [{"pin": one} if isinstance(one, str) else {"pin": one[0], "position": one[1]} for one in pins]
    return {"domain": domain, "pins": listed} | members


def der(one):
    return one if isinstance(one, bytes) else one.der


def asked(domains, path=PATH, host="api.example.com", at=AT, do="decide", installation=None, extra=None, **members):
    question = {"do": do, "list": compact(list_payload(domains=domains, **members)), "host": host, "at": at}
    if path is not None:
        question["path"] = [b64(der(one)) for one in path]
    if installation:
        question["installation"] = installation
    return question | (extra or {})


def said(verdict, reason, enforced, noted="api.example.com", path=PATH, host="api.example.com", matched=None, issuer=None,
         denied=None, stale=False):
    """A decision; a match is (pin, index)."""
    def match(one):
        return one and {"pin": one[0], "index": one[1]}
    answer = {"host": host, "notedHostname": noted, "verdict": verdict, "enforced": enforced, "reason": reason,
              "matched": match(matched), "matchedIssuer": match(issuer),
              "path": [None if isinstance(one, bytes) else openssl_pin(one.der) for one in path or ()],
              "list": {"name": NAME, "version": 7, "stale": stale}}
    return answer | ({"denied": match(denied)} if denied else {})


def case(name, why, question, answer, source=SOURCE):
    return Case(f"decisions/{name}", why, source, question, answer)


def cases():
    yield from matching()
    yield from entries()
    yield from denied()
    yield from suspended()
    yield from shares()
    yield from transports()


def matching():
    for name, one, index, where in [("leaf-any", LEAF.pin, 0, None), ("intermediate-any", MIDDLE.pin, 1, None),
                                    ("anchor-any", ROOT.pin, 2, None), ("leaf-leaf", LEAF.pin, 0, "leaf"),
                                    ("intermediate-issuer", MIDDLE.pin, 1, "issuer"), ("anchor-issuer", ROOT.pin, 2, "issuer"),
                                    ("certificate-pin", LEAF.whole, 0, None)]:
        yield case(f"match-{name}", "a pin matches in its position", asked([entry((one, where) if where else one, STRANGER)]),
                   said("allow", "pin-match", True, matched=(one, index)))
    for name, one in [("intermediate-as-leaf", (MIDDLE.pin, "leaf")), ("leaf-as-issuer", (LEAF.pin, "issuer"))]:
        yield case(f"position-{name}", "a pin matches nothing outside of its position", asked([entry(one)]),
                   said("block", "no-matching-pin", True))
    yield case("mismatch", "no pin is in the path", asked([entry(STRANGER)]), said("block", "no-matching-pin", True))
    yield case("any-hosts-pin", "the key of another entry's host: a pin counts for its own entry alone (ktor's defect of 2025)",
               asked([entry(LEAF.pin), entry(OTHER.pin, domain="other.example")], (OTHER, MIDDLE, ROOT)),
               said("block", "no-matching-pin", True, path=(OTHER, MIDDLE, ROOT)), "ktor issue 5309; issue 22")
    yield case("interceptor", "a chain of an interceptor that the platform trusts", asked(
        [entry(LEAF.pin, MIDDLE.pin)], (FOREIGN, FOREIGN_ROOT)),
        said("block", "no-matching-pin", True, path=(FOREIGN, FOREIGN_ROOT)))
    yield case("renewed-with-the-same-key", "a renewal with the same key still matches", asked(
        [entry(LEAF.pin)], (RENEWED, MIDDLE, ROOT)),
        said("allow", "pin-match", True, path=(RENEWED, MIDDLE, ROOT), matched=(LEAF.pin, 0)))
    yield case("certificate-pin-renewed", "the pin of a certificate does not match its renewal", asked(
        [entry(LEAF.whole)], (RENEWED, MIDDLE, ROOT)), said("block", "no-matching-pin", True, path=(RENEWED, MIDDLE, ROOT)))
    yield case("which-match-is-told", "of several the one nearest to the leaf is told", asked(
        [entry(ROOT.pin, MIDDLE.pin)]), said("allow", "pin-match", True, matched=(MIDDLE.pin, 1)))
    yield case("which-match-of-one-certificate", "of one certificate the first in the list", asked(
        [entry(LEAF.whole, LEAF.pin)]), said("allow", "pin-match", True, matched=(LEAF.whole, 0)))
    both = entry((LEAF.pin, "leaf"), (MIDDLE.pin, "issuer"), requireIssuer=True)
    yield case("requireissuer", "a leaf pin and an issuer pin match", asked([both]),
               said("allow", "pin-match", True, matched=(LEAF.pin, 0), issuer=(MIDDLE.pin, 1)))
    for name, one in [("leaf-alone", entry((LEAF.pin, "leaf"), (STRANGER, "issuer"), requireIssuer=True)),
                      ("issuer-alone", entry((STRANGER, "leaf"), (MIDDLE.pin, "issuer"), requireIssuer=True))]:
        yield case(f"requireissuer-{name}", "one of the two is not enough", asked([one]), said("block", "no-matching-pin", True))
    yield case("unusable-pins", "an entry that is left without a usable pin blocks", asked(
        [entry("sha3-256/x", (LEAF.pin, "root"))]), said("block", "no-matching-pin", True))
    broken = (LEAF, UNREADABLE, ROOT)
    yield case("unreadable-certificate", "a certificate that cannot be read matches nothing, and stops nothing", asked(
        [entry(ROOT.pin)], broken), said("allow", "pin-match", True, path=broken, matched=(ROOT.pin, 2)))
    yield case("unreadable-certificate-pin", "nor does the pin of its bytes match", asked(
        [entry(pin(UNREADABLE, "cert-sha256/"))], broken), said("block", "no-matching-pin", True, path=broken))
    yield case("no-certificates", "a path without certificates", asked([entry(LEAF.pin)], ()),
               said("block", "no-certificates", True, path=()))


def entries():
    host = "a.api.example.com"
    below = entry(LEAF.pin, includeSubdomains=True)
    yield case("subdomain", "a parent's entry", asked([below], host=host), said(
        "allow", "pin-match", True, host=host, matched=(LEAF.pin, 0)))
    yield case("subdomain-mismatch", "a parent's entry that does not match", asked([entry(STRANGER, includeSubdomains=True)],
               host=host), said("block", "no-matching-pin", True, host=host))
    yield case("nearer-replaces", "a nearer entry replaces a farther one whole: the farther one's pin does not count", asked(
        [below, entry(STRANGER, domain=host)], host=host), said("block", "no-matching-pin", True, noted=host, host=host))
    yield case("carve-out", "mode off on a subdomain carves it out", asked(
        [entry(STRANGER, includeSubdomains=True), entry(domain=host, mode="off")], host=host),
        said("allow", "not-pinned", False, noted=host, host=host))
    yield case("host-is-normalised", "case and a trailing dot do not matter", asked([entry(LEAF.pin)], host="API.Example.com."),
               said("allow", "pin-match", True, matched=(LEAF.pin, 0)))
    for name, given in [("empty", ""), ("nul", "api.example.com\0"), ("not-ascii", "\u00e4pi.example.com")]:
        yield case(f"host-invalid-{name}", "a host that does not normalise is refused", asked([entry(LEAF.pin)], host=given),
                   said("block", "host-invalid", True, noted=None, host=given))
    for name, mode, verdict, reason, enforced in [
            ("enforce", "enforce", "block", "no-matching-pin", True), ("report", "report", "allow", "no-matching-pin", False),
            ("off", "off", "allow", "not-pinned", False)]:
        yield case(f"mode-{name}", "what a mismatch comes to", asked([entry(STRANGER, mode=mode)]),
                   said(verdict, reason, enforced))
    yield case("mode-report-match", "a match where only reports are asked for", asked([entry(LEAF.pin, mode="report")]),
               said("allow", "pin-match", False, matched=(LEAF.pin, 0)))
    for unlisted, verdict, reason in [("allow", "allow", "not-pinned"), ("report", "allow", "unlisted-reported"),
                                      ("deny", "block", "unlisted-denied")]:
        yield case(f"unlisted-{unlisted}", "a host that no entry covers", asked(
            [entry(LEAF.pin)], host="other.example", unlisted=unlisted),
            said(verdict, reason, verdict == "block", noted=None, host="other.example"))
    end = "2026-01-10T00:00:01Z"
    yield case("domain-ends-in-a-second", "an entry is enforced to its end", asked([entry(STRANGER, expiresAt=end)]),
               said("block", "no-matching-pin", True))
    yield case("domain-ends-now", "from its end on it is not", asked([entry(STRANGER, expiresAt=end)], at=end),
               said("allow", "domain-expired", False))
    yield case("domain-expired-before-off", "an entry that is off and has ended has ended", asked(
        [entry(mode="off", expiresAt=end)], at=end), said("allow", "domain-expired", False))
    yield case("clock-set-back", "the list says that it is later than the clock: entries are judged by the later time", asked(
        [entry(STRANGER, expiresAt="2026-01-01T00:00:00Z")], at="2020-01-01T00:00:00Z"),
        said("allow", "domain-expired", False), "formats.md, section 3.3, step 1")
    late = "2026-03-01T00:00:00Z"
    for name, whenstale, verdict, enforced in [("enforce", "enforce", "block", True), ("report", "report", "allow", False)]:
        yield case(f"stale-{name}", "a stale list: what the app chose", asked(
            [entry(STRANGER)], at=late, extra={"whenStale": whenstale}), said(verdict, "no-matching-pin", enforced, stale=True),
            "formats.md, section 3.3, loading")
    yield case("stale-deny", "with deny not even a match is let through", asked(
        [entry(LEAF.pin)], at=late, extra={"whenStale": "deny"}), said("block", "no-matching-pin", True, stale=True),
        "formats.md, section 3.3, loading")
    yield case("stale-deny-report-entry", "entries that only report block as well", asked(
        [entry(LEAF.pin, mode="report")], at=late, extra={"whenStale": "deny"}),
        said("block", "no-matching-pin", True, stale=True), "formats.md, section 3.3, loading")
    yield case("stale-deny-off", "what is off stays off", asked(
        [entry(mode="off")], at=late, extra={"whenStale": "deny"}), said("allow", "not-pinned", False, stale=True),
        "formats.md, section 3.3, loading")


def denied():
    for name, one, index in [("leaf", LEAF, 0), ("intermediate", MIDDLE, 1), ("anchor", ROOT, 2)]:
        yield case(f"denied-{name}", "a denied key anywhere in the path, before any pin is looked at", asked(
            [entry(LEAF.pin)], denied=[one.pin]), said("block", "denied-key", True, denied=(one.pin, index)))
    stop = {"domain": "*", "until": "2026-01-05T00:00:00Z", "reason": "x"}
    for name, members, host, noted in [
            ("suspended", {"suspended": [stop]}, "api.example.com", "api.example.com"),
            ("unlisted", {}, "other.example", None)]:
        yield case(f"denied-although-{name}", "denied keys are refused under any suspension, and for all hosts", asked(
            [entry(LEAF.pin)], host=host, at="2026-01-02T00:00:00Z", denied=[LEAF.pin], **members),
            said("block", "denied-key", True, noted=noted, host=host, denied=(LEAF.pin, 0)))
    for mode in ("report", "off"):
        yield case(f"denied-although-{mode}", "denied keys are refused in every mode", asked(
            [entry(LEAF.pin, mode=mode)], denied=[LEAF.pin]), said("block", "denied-key", True, denied=(LEAF.pin, 0)))
    yield case("denied-outside-rollout", "and for every rollout share", asked([entry(LEAF.pin, rollout=0)], denied=[LEAF.pin]),
               said("block", "denied-key", True, denied=(LEAF.pin, 0)))
    report = {"pin": LEAF.pin, "mode": "report"}
    yield case("denied-reported", "an entry that only reports", asked([entry(LEAF.pin)], denied=[report]),
               said("allow", "pin-match", True, matched=(LEAF.pin, 0), denied=(LEAF.pin, 0)))
    yield case("denied-reported-and-enforced", "one that enforces goes before one that reports", asked(
        [entry(LEAF.pin)], denied=[report, ROOT.pin]), said("block", "denied-key", True, denied=(ROOT.pin, 2)))
    broken = (LEAF, UNREADABLE, ROOT)
    yield case("denied-undecidable", "a certificate that cannot be read beside an enforcing deny set", asked(
        [entry(LEAF.pin)], broken, denied=[STRANGER]), said("block", "denied-undecidable", True, path=broken))
    yield case("denied-reported-undecidable", "a deny set that only reports blocks nobody", asked(
        [entry(LEAF.pin)], broken, denied=[{"pin": STRANGER, "mode": "report"}]),
        said("allow", "pin-match", True, path=broken, matched=(LEAF.pin, 0)))
    yield case("denied-key-before-undecidable", "a denied key is named first", asked(
        [entry(LEAF.pin)], broken, denied=[LEAF.pin]), said("block", "denied-key", True, path=broken, denied=(LEAF.pin, 0)))
    yield case("host-invalid-before-denied", "a host that is none is refused as that", asked(
        [entry(LEAF.pin)], host="a b", denied=[LEAF.pin]), said("block", "host-invalid", True, noted=None, host="a b"))


def suspended():
    at, until = "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"

    def stop(domain):
        return [{"domain": domain, "until": until, "reason": "incident 4711"}]
    domains = [entry(STRANGER, includeSubdomains=True), entry(STRANGER, domain="a.api.example.com")]
    for name, domain in [("everything", "*"), ("entry", "api.example.com"), ("entry-spelled", "API.example.com.")]:
        yield case(f"suspended-{name}", "the kill switch relaxes pinning", asked(domains, at=at, suspended=stop(domain)),
                   said("allow", "suspended", False))
    yield case("suspended-until", "at its end a suspension is over", asked(domains, at=until, suspended=stop("*")),
               said("block", "no-matching-pin", True))
    yield case("suspended-a-second-before", "a second before it is not", asked(
        domains, at="2026-01-02T23:59:59Z", suspended=stop("*")), said("allow", "suspended", False))
    host = "a.api.example.com"
    yield case("suspended-not-the-child", "a suspension names one entry: its children keep theirs", asked(
        domains, host=host, at=at, suspended=stop("api.example.com")),
        said("block", "no-matching-pin", True, noted=host, host=host))
    yield case("suspended-not-the-parent", "nor the parent", asked(domains, at=at, suspended=stop(host)),
               said("block", "no-matching-pin", True))
    below = "b.api.example.com"
    yield case("suspended-hosts-of-the-entry", "the hosts that the entry covers are suspended", asked(
        domains, host=below, at=at, suspended=stop("api.example.com")), said("allow", "suspended", False, host=below))
    yield case("suspended-unlisted", "* names the rule for unlisted hosts, too", asked(
        domains, host="other.example", at=at, unlisted="deny", suspended=stop("*")),
        said("allow", "suspended", False, noted=None, host="other.example"))
    yield case("suspended-match", "a match is not looked for", asked([entry(LEAF.pin)], at=at, suspended=stop("*")),
               said("allow", "suspended", False))
    yield case("suspended-clock-set-back", "a clock that is set back does not bring a suspension back beyond the list's issue",
               asked(domains, at="2020-01-01T00:00:00Z", suspended=stop("*")), said("allow", "suspended", False),
               "formats.md, section 3.3, step 1")


def shares():
    source = "formats.md, section 3.2"
    first, last = installation_at(0), installation_at(99)
    for name, installation, rollout, enforced in [
            ("first-of-1", first, 1, True), ("last-of-1", last, 1, False), ("first-of-0", first, 0, False),
            ("last-of-99", last, 99, False), ("last-of-100", last, 100, True), ("nobody-of-99", None, 99, False),
            ("nobody-of-100", None, 100, True)]:
        yield case(f"rollout-{name}", "who enforces", asked([entry(STRANGER, rollout=rollout)], installation=installation),
                   said("block" if enforced else "allow", "no-matching-pin", enforced), source)


def transports():
    for reason in ("chain-invalid", "no-certificates", "over-budget", "revoked", "revocation-unknown"):
        yield case(f"transport-{reason}", "what never came to a validated path", asked(
            [entry(LEAF.pin)], None, extra={"transport": reason}), said("block", reason, True, path=()))
    for reason in ("cleartext", "other-host-connection"):
        extra = {"transport": reason}
        yield case(f"{reason}-enforced", "refused where the entry enforces", asked([entry(LEAF.pin)], None, extra=extra),
                   said("block", reason, True, path=()))
        yield case(f"{reason}-reported", "entries that report allow it", asked(
            [entry(LEAF.pin, mode="report")], None, extra=extra), said("allow", reason, False, path=()))
        yield case(f"{reason}-not-pinned", "a host that nothing is expected of", asked(
            [entry(LEAF.pin)], None, host="other.example", extra=extra),
            said("allow", "not-pinned", False, noted=None, path=(), host="other.example"))
        yield case(f"{reason}-suspended", "the kill switch holds here, too", asked(
            [entry(LEAF.pin)], None, at="2026-01-02T00:00:00Z", extra=extra,
            suspended=[{"domain": "*", "until": "2026-01-03T00:00:00Z", "reason": "x"}]),
            said("allow", "suspended", False, path=()))
    over = {"transport": "other-host-connection"}
    yield case("other-host-connection-match", "a path that satisfies this host's entry as well", asked(
        [entry(MIDDLE.pin)], (OTHER, MIDDLE, ROOT), extra=over),
        said("allow", "pin-match", True, path=(OTHER, MIDDLE, ROOT), matched=(MIDDLE.pin, 1)))
    yield case("other-host-connection-mismatch", "connections are shared by HTTP/2: the answer of another host's connection",
               asked([entry(LEAF.pin)], (OTHER, MIDDLE, ROOT), extra=over),
               said("block", "other-host-connection", True, path=(OTHER, MIDDLE, ROOT)))
    yield case("tampering", "the pins match, and the app refuses pinned connections", asked(
        [entry(LEAF.pin)], extra={"tampering": True}), said("block", "tampering", True))
    for name, members, reason in [("not-pinned", {"mode": "off"}, "not-pinned"), ("reported", {"mode": "report"}, "pin-match")]:
        yield case(f"tampering-{name}", "it takes the place of pin-match alone, and only where the entry enforces", asked(
            [entry(LEAF.pin, **members)], extra={"tampering": True}),
            said("allow", reason, False, matched=(LEAF.pin, 0) if reason == "pin-match" else None))
    yield case("tampering-mismatch", "a mismatch is told as what it is", asked([entry(STRANGER)], extra={"tampering": True}),
               said("block", "no-matching-pin", True))


def main():
    import decisions_revoked
    import decisions_transparency
    written = [*cases(), *decisions_revoked.cases(), *decisions_transparency.cases()]
    write("decisions", "A list, a path that was validated, a host and a time give a decision.", written)
