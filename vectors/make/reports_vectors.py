# SPDX-License-Identifier: CC0-1.0
"""reports.json: what is reported of a failure, where it goes, and when two failures are identical."""
import ssl

import decisions_vectors as d
from decisions_revoked import serial
from decisions_transparency import LOGS
from decisions_vectors import AT, FOREIGN, FOREIGN_ROOT, LEAF, MIDDLE, PATH, STRANGER, asked, entry
from material import Case, Certificate, b64, compact, digest, write
from metadata_material import NAME, list_payload

SOURCE = "formats.md, section 5"
LIST_ADDRESS, OWN_ADDRESS = "https://reports.example.com/v1/reports", "https://own.example.com/r"
DIGEST = digest(b"an envelope")
APP = {"bundleID": "com.example.app", "version": "4.2", "platform": "IOS", "platformVersion": "18.5"}
APP_MEMBERS = {"app-bundle-id": "com.example.app", "app-version": "4.2", "app-platform": "IOS", "app-platform-version": "18.5"}
LIST = {"list-name": NAME, "list-version": 7, "list-digest": DIGEST}
SELF = Certificate("reports self-signed", hosts=["api.example.com"])
SELF_AGAIN = Certificate("reports self-signed again", hosts=["api.example.com"], subject="reports self-signed")
FOREIGN_AGAIN = Certificate("reports foreign leaf", FOREIGN_ROOT, ["api.example.com"])


def failed(domains, path=PATH, served=None, port=443, app=None, signals=(), web=False, extra=None, **members):
    members = {"reportTo": [LIST_ADDRESS]} | members
    question = asked(domains, path, do="report", extra=extra, **members)
    return question | {"served": [b64(d.der(one)) for one in (served if served is not None else path or ())], "port": port,
                       "app": APP | (app or {}), "signals": list(signals), "webView": web, "digest": DIGEST}


def pem(chain):
    return [ssl.DER_cert_to_PEM_cert(d.der(one)) for one in chain]


def body(reason, result, enforced, noted="api.example.com", host="api.example.com", below=False, ends="2026-03-01T00:00:00Z",
         known=(STRANGER,), path=PATH, served=None, port=443, signals=(), app=None, to=LIST_ADDRESS):
    return {"report": {"to": [to] if isinstance(to, str) else to, "body": {
        "date-time": AT, "hostname": host, "port": port, "noted-hostname": noted, "include-subdomains": below,
        "enforce-pinning": enforced, "effective-expiration-date": ends,
        "served-certificate-chain": pem(served if served is not None else path),
        "validated-certificate-chain": pem(path),
        "known-pins": [f'pin-sha256="{one.split("/", 1)[1]}"' for one in known], "validation-result": result,
        **APP_MEMBERS, **(app or {}), "tumbler": LIST | {"reason": reason, "signals": list(signals)}}}}


def case(name, why, question, answer):
    return Case(f"reports/{name}", why, SOURCE, question, answer)


def cases():
    yield from failures()
    yield from incidents()
    yield from identities()


def failures():
    wrong = [entry(STRANGER)]
    nothing = {"report": None}
    yield case("mismatch", "a mismatch that was refused", failed(wrong), body("no-matching-pin", 1, True))
    yield case("mismatch-reported", "a mismatch where the entry only reports", failed([entry(STRANGER, mode="report")]),
               body("no-matching-pin", 1, False))
    yield case("match", "a match is not reported", failed([entry(LEAF.pin)]), nothing)
    yield case("off", "what is off is not reported", failed([entry(mode="off")]), nothing)
    stop = [{"domain": "*", "until": "2026-01-07T00:00:00Z", "reason": "x"}]
    yield case("suspended", "a suspension is not reported", failed(wrong, suspended=stop) | {"at": "2026-01-02T00:00:00Z"},
               nothing)
    yield case("nowhere", "there is no default destination", failed(wrong, reportTo=None), nothing)
    yield case("own-address", "an entry's own addresses replace the list's", failed([entry(STRANGER, reportTo=[OWN_ADDRESS])]),
               body("no-matching-pin", 1, True, to=OWN_ADDRESS))
    yield case("subdomain", "the noted host and the host", failed([entry(STRANGER, includeSubdomains=True)]) | {
        "host": "a.api.example.com"}, body("no-matching-pin", 1, True, host="a.api.example.com", below=True))
    yield case("domain-end", "an entry's own end", failed([entry(STRANGER, expiresAt="2026-02-01T00:00:00Z")]),
               body("no-matching-pin", 1, True, ends="2026-02-01T00:00:00Z"))
    yield case("domain-expired", "an entry that has ended is reported", failed([entry(STRANGER, expiresAt=AT)]),
               body("domain-expired", 0, False, ends=AT))
    yield case("certificate-pins-left-out", "RFC 7469 has no form for the pin of a certificate", failed(
        [entry(LEAF.whole.replace(LEAF.whole[12:16], "AAAA"), STRANGER)]), body("no-matching-pin", 1, True))
    yield case("served-and-validated", "what was served is not what was validated", failed(wrong, served=(LEAF, FOREIGN)),
               body("no-matching-pin", 1, True, served=(LEAF, FOREIGN)))
    yield case("port", "another port", failed(wrong, port=8443), body("no-matching-pin", 1, True, port=8443))
    yield case("vendor", "an identifier that the app gives", failed(wrong, app={"vendorID": "v-1"}),
               body("no-matching-pin", 1, True, app={"app-vendor-id": "v-1"}))
    yield case("signals", "what the app noticed of its process", failed(wrong, signals=["debugger", "hooked-functions"]),
               body("no-matching-pin", 1, True, signals=["debugger", "hooked-functions"]))
    many = [f"signal-{index}" for index in range(33)]
    yield case("signals-32", "at most 32 signals", failed(wrong, signals=many[:32]), body(
        "no-matching-pin", 1, True, signals=many[:32]))
    yield case("signals-33", "one more is left out", failed(wrong, signals=many), body(
        "no-matching-pin", 1, True, signals=many[:32]))
    for count in (256, 257):
        cut = "s" * 256 if count == 256 else "s" * 255 + "…"
        yield case(f"signal-{count}-characters", "256 characters of a signal, else the last is a sign that it was cut", failed(
            wrong, signals=["s" * count]), body("no-matching-pin", 1, True, signals=[cut]))
    yield case("signal-257-scalars", "Unicode scalars are counted, and no bytes and no characters as they look", failed(
        wrong, signals=["e\u0301" * 128, "e\u0301" * 128 + "e"]), body(
            "no-matching-pin", 1, True, signals=["e\u0301" * 128, "e\u0301" * 127 + "e…"]))
    yield case("signal-unseen", "what breaks a line or turns the direction of a text", failed(
        wrong, signals=["a\nb\u202ec"]), body("no-matching-pin", 1, True, signals=["a?b?c"]))
    yield case("denied-key", "a denied key", failed([entry(LEAF.pin)], denied=[LEAF.pin]),
               body("denied-key", 1, True, known=(LEAF.pin,)))
    yield case("denied-key-reported", "a denied key that is only reported, although a pin matched", failed(
        [entry(LEAF.pin)], denied=[{"pin": LEAF.pin, "mode": "report"}]), body("denied-key", 1, True, known=(LEAF.pin,)))
    taken_back = {"issuer": MIDDLE.pin, "serials": [serial(LEAF.der)]}
    yield case("revoked", "a certificate that the list revokes", failed([entry(LEAF.pin)], revoked=[taken_back]),
               body("revoked", 1, True, known=(LEAF.pin,)))
    yield case("revoked-reported", "one that is only reported, although a pin matched", failed(
        [entry(LEAF.pin)], revoked=[taken_back | {"mode": "report"}]), body("revoked", 1, True, known=(LEAF.pin,)))
    yield case("denied-before-revoked-reported", "of both the denied key is told", failed(
        [entry(LEAF.pin)], denied=[{"pin": LEAF.pin, "mode": "report"}], revoked=[taken_back | {"mode": "report"}]),
        body("denied-key", 1, True, known=(LEAF.pin,)))
    for mode in ("enforce", "report"):
        asks = [entry(LEAF.pin, transparency={"mode": mode, "policy": "chrome"})]
        yield case(f"transparency-{mode}", "a policy of Certificate Transparency that is not satisfied", failed(
            asks, extra={"logs": LOGS}), body("transparency", 1, True, known=(LEAF.pin,)))
    for unlisted, reason, enforced in [("report", "unlisted-reported", False), ("deny", "unlisted-denied", True)]:
        question = failed(wrong, unlisted=unlisted) | {"host": "other.example"}
        yield case(reason, "a host that no entry covers", question,
                   body(reason, 1, enforced, noted="other.example", host="other.example", known=()))
        yield case(f"{reason}-web-view", "failures of unlisted hosts are never reported from a web view",
                   question | {"webView": True}, nothing)
    yield case("web-view-listed", "those of listed hosts are", failed(wrong, web=True), body("no-matching-pin", 1, True))
    for reason, result, served in [("chain-invalid", 2, (FOREIGN,)), ("no-certificates", 2, ()), ("over-budget", 2, PATH),
                                   ("revoked", 1, PATH), ("revocation-unknown", 2, PATH),
                                   ("cleartext", 3, ()), ("other-host-connection", 1, ())]:
        yield case(f"transport-{reason}" if reason == "revoked" else reason, "what never came to a validated path", failed(
            wrong, None, served, extra={"transport": reason}), body(reason, result, True, path=(), served=served))
    yield case("tampering", "the chain was right, and the process was not", failed(
        [entry(LEAF.pin)], signals=["debugger"], extra={"tampering": True}),
        body("tampering", 0, True, known=(LEAF.pin,), signals=["debugger"]))
    yield case("host-invalid", "a host that does not normalise", failed(wrong) | {"host": "a b"},
               body("host-invalid", 3, True, noted="a b", host="a b", known=()))
    addresses = [f"https://r{index}.example/" for index in range(9)]
    yield case("addresses-all-8", "8 addresses all get it", failed(wrong, reportTo=addresses[:8]),
               body("no-matching-pin", 1, True, to=addresses[:8]))
    yield case("addresses-8", "a report goes to at most 8 addresses", failed(wrong, reportTo=addresses),
               body("no-matching-pin", 1, True, to=addresses[:8]))
    long = (LEAF,) + (MIDDLE,) * 10
    yield case("chain-all-10", "10 certificates are all sent", failed(wrong, served=long[:10]), body(
        "no-matching-pin", 1, True, served=long[:10]))
    yield case("chain-10", "at most 10 certificates of a chain", failed(wrong, served=long), body(
        "no-matching-pin", 1, True, served=long[:10]))
    large = [b"\x30\x82\x3f\xfc" + bytes(16_380)] * 5
    yield case("chain-65536-bytes", "at most 65,536 bytes of a chain", failed(wrong, served=large), body(
        "no-matching-pin", 1, True, served=large[:4]))
    yield case("chain-all-65536-bytes", "65,536 bytes are all sent", failed(wrong, served=large[:4]), body(
        "no-matching-pin", 1, True, served=large[:4]))
    longer = [*large[:3], b"\x30\x82\x3f\xfd" + bytes(16_381)]
    yield case("chain-65537-bytes", "one byte beyond: the certificate that it is in stays away whole", failed(
        wrong, served=longer), body("no-matching-pin", 1, True, served=longer[:3]))


def incidents():
    question = {"do": "incident", "list": compact(list_payload(reportTo=[LIST_ADDRESS])), "at": AT, "app": APP,
                "digest": DIGEST}

    def answer(code, **members):
        return {"report": {"to": [LIST_ADDRESS], "body": {
            "date-time": AT, **APP_MEMBERS, "tumbler": LIST | {"reason": code} | members}}}
    evidence = b64(b'{"an": "envelope"}')
    for code in ("rollback", "equivocation", "issued-in-future", "expired", "wrong-name", "wrong-type", "root-gap", "malformed"):
        yield case(f"incident-{code}", "a refusal whose signatures held: the envelope is evidence", question | {
            "code": code, "envelope": evidence}, answer(code, envelope=evidence))
    for code in ("too-large", "malformed", "wrong-type", "unsigned", "threshold-not-met", "stale"):
        yield case(f"incident-{code}-without-evidence", "without signatures that held there is no envelope",
                   question | {"code": code}, answer(code))
    yield case("incident-nowhere", "there is no default destination", question | {
        "list": compact(list_payload()), "code": "rollback"}, {"report": None})


def identities():
    wrong = [entry(STRANGER, includeSubdomains=True)]
    intercepted = failed(wrong, (FOREIGN, FOREIGN_ROOT))
    for name, why, first, second, same in [
            ("leaf", "an interceptor makes a new leaf for each connection: who issued it counts", intercepted,
             failed(wrong, (FOREIGN_AGAIN, FOREIGN_ROOT)), True),
            ("issuer", "another issuer", intercepted, failed(wrong), False),
            ("host", "another host of the entry", intercepted, intercepted | {"host": "a.api.example.com"}, False),
            ("port", "another port", intercepted, intercepted | {"port": 8443}, False),
            ("reason", "another reason", intercepted, failed(wrong, (FOREIGN, FOREIGN_ROOT), denied=[FOREIGN.pin]), False),
            ("version", "the list's version does not count", intercepted, failed(
                wrong, (FOREIGN, FOREIGN_ROOT), version=8), True),
            ("noted-host", "another noted host", intercepted | {"host": "a.api.example.com"}, failed(
                [entry(STRANGER, domain="a.api.example.com")], (FOREIGN, FOREIGN_ROOT)) | {"host": "a.api.example.com"}, False),
            ("self-issued", "of a self-issued leaf the subject counts, for its key is new each time", failed(wrong, (SELF,)),
             failed(wrong, (SELF_AGAIN,)), True),
            ("time", "the time does not count", intercepted, intercepted | {"at": "2026-01-11T00:00:00Z"}, True)]:
        yield case(f"identical-{name}", why, {"do": "identical", "failures": [first, second]}, {"identical": same})


def main():
    write("reports", "What is reported of a failure or of a refused list, and when two failures are identical.", list(cases()))
