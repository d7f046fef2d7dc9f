# SPDX-License-Identifier: CC0-1.0
"""transparency.json: what a certificate's embedded timestamps are worth."""
import base64
import datetime
import hashlib
import json

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from material import Case, Certificate, Signer, b64, compact, moment, write
from transparency_material import (AT, MIDDLE, ROOT, SIGNED, Log, Other, Stamp, entry, extension, log_list, logged, rsa_key,
                                   vector)

SOURCE = "formats.md, section 4.2; RFC 6962, sections 3.2 and 3.3"
A, A2, A3, B, C = Log("a1"), Log("a2"), Log("a3"), Log("b1", "Beta"), Log("c1", "Gamma")
TILED, TILED2 = Log("t1", "Gamma", tiled=True), Log("t2", "Delta", tiled=True)
LISTED = (A, A2, A3, B, C, TILED, TILED2)
LOGS = log_list(*LISTED)
TRAPS = ("9EGV1vAOLbVUNcrdV3iS5T4VrUFwWPh44U/2uRh0FYk=", "si9+3rWvav5QPeBAgbLXTBJThJL+3yyypSZQPO9TztI=")
P256_COMPRESSED = bytes.fromhex("3039301306072a8648ce3d020106082a8648ce3d030107032200")


def asked(path, logs=LOGS, policy="chrome", at=AT):
    return {"do": "judge-transparency", "path": [b64(one if isinstance(one, bytes) else one.der) for one in path],
            "logs": logs, "policy": policy, "at": at}


def said(satisfied, stamps=(), policy="chrome"):
    return {"policy": policy, "satisfied": satisfied, "scts": [one.expected for one in stamps if one.expected]}


def case(name, why, stamps, satisfied, logs=LOGS, policy="chrome", at=AT, source=SOURCE, issuer=MIDDLE, **form):
    leaf = logged(f"transparency {name}", stamps, issuer, **form)
    return Case(f"transparency/{name}", why, source, asked([leaf, issuer], logs, policy, at),
                said(satisfied, stamps, policy))


def cases():
    yield from statuses()
    yield from certificates()
    yield from counting()
    yield from lifetimes()
    yield from states()
    yield from log_lists()


def later(text, **much):
    return (moment(text) + datetime.timedelta(**much)).strftime("%Y-%m-%dT%H:%M:%SZ")


def statuses():
    good = [Stamp(A), Stamp(B)]
    for policy in ("chrome", "apple"):
        yield case(f"two-logs-{policy}", "two logs of two operators for 90 days", good, True, policy=policy)
    yield case("no-additions", "a log that adds nothing", [Stamp(A, extensions=b""), Stamp(B, extensions=b"")], True)
    yield case("additions-changed", "what a log added is signed with the rest", [
        Stamp(A, "invalid-signature", change=lambda data: data.replace(b"\5\0\0\0\0\7", b"\5\0\0\0\0\x08", 1)),
        Stamp(B)], False)
    yield case("time-changed", "a timestamp that was dated back", [
        Stamp(A, "invalid-signature", milliseconds=5, change=lambda data: data[:40] + bytes([data[40] ^ 1]) + data[41:]),
        Stamp(B)], False)
    stranger = logged("transparency stranger", good)
    pasted = entry(Certificate("transparency another", MIDDLE, ["api.example.com"]).der, MIDDLE)
    yield case("of-another-certificate", "timestamps of another certificate, pasted into this one", [
        Stamp(A, "invalid-signature", over=pasted), Stamp(B, "invalid-signature", over=pasted)], False)
    yield Case("transparency/another-issuer", "the issuer's key is signed with the rest", SOURCE,
               asked([stranger, ROOT]), said(False, [Stamp(A, "invalid-signature"), Stamp(B, "invalid-signature")]))
    yield Case("transparency/issuer-missing", "without an issuer nothing can be said", SOURCE, asked([stranger]), said(False))
    yield Case("transparency/issuer-unreadable", "nor with one that cannot be read", SOURCE, asked([stranger, b"\x30\0"]),
               said(False))
    yield case("forged", "signed by another key under a log's id", [Stamp(A, "invalid-signature", signer=B), Stamp(B)], False)
    yield case("signature-not-der", "an ECDSA signature is DER, and not two numbers", [
        Stamp(A, "invalid-signature", change=lambda data: data[:-len(_signature(data))] + b"\1" * len(_signature(data))),
        Stamp(B)], False)
    yield case("unknown-log", "a log that the list does not have", [Stamp(Log("nowhere"), "unknown-log"), Stamp(B)], False)
    for number, one in enumerate(TRAPS):
        trap = Log(f"trap {number}")
        trap.id = base64.b64decode(one)
        yield case(f"trap-{number + 1}", "a log whose private key is public", [Stamp(trap, "unknown-log"), Stamp(B)], False)
    p384 = Log("p384", key=ec.derive_private_key(7, ec.SECP384R1()))
    compressed = Signer("log compressed", "ecdsa-p256-sha256").key
    small, large = Log("rsa1024", key=rsa_key("log rsa", 1_024)), Log("rsa2048", key=rsa_key("log rsa", 2_048))
    point = compressed.public_key().public_bytes(serialization.Encoding.X962, serialization.PublicFormat.CompressedPoint)
    short = Log("compressed", key=compressed, listed=P256_COMPRESSED + point)
    for name, why, log, status, more in [
            ("p384", "a key of P-384", p384, "unsupported", {}),
            ("rsa-1024", "an RSA key of 1,024 bits", small, "unsupported", {}),
            ("rsa-2048", "an RSA key of 2,048 bits", large, "valid", {}),
            ("rsa-signature-wrong", "an RSA signature by another key", large, "invalid-signature",
             {"signer": Log("rsa other", key=rsa_key("log rsa other", 2_048))}),
            ("compressed", "a key in another form than its one", short, "unsupported", {}),
            ("rsa-for-ecdsa", "a signature that says RSA under a key of P-256", A, "unsupported", {"algorithm": b"\4\1"}),
            ("sha384", "SHA-384", A, "unsupported", {"algorithm": b"\5\3"}),
            ("ecdsa-for-rsa", "a signature that says ECDSA under an RSA key", large, "unsupported", {"algorithm": b"\4\3"})]:
        yield case(f"key-{name}", why, [Stamp(log, status, **more), Stamp(B)], status == "valid",
                   log_list(*LISTED, *([] if log is A else [log])))
    for name, why, milliseconds, status in [("five-minutes-ahead", "clocks differ by five minutes", 0, "valid"),
                                            ("further-ahead", "one millisecond more", 1, "in-the-future")]:
        yield case(name, why, [Stamp(A, status, later(AT, minutes=5), milliseconds), Stamp(B)], status == "valid")
    yield case("milliseconds-cut", "milliseconds are cut, and signed", [Stamp(A, milliseconds=999), Stamp(B)], True)
    ends = "2026-03-31T23:59:59Z"
    for name, why, interval, status in [
            ("interval-begins", "the certificate ends when the interval begins", (ends, later(ends, days=9)), "valid"),
            ("interval-begins-later", "a second before", (later(ends, seconds=1), later(ends, days=9)), "outside-interval"),
            ("interval-ends-later", "a second before the interval ends", (AT, later(ends, seconds=1)), "valid"),
            ("interval-ends", "the end is excluded", ("2026-01-01T00:00:00Z", ends), "outside-interval")]:
        log = Log("sharded", interval=interval)
        yield case(name, why, [Stamp(log, status), Stamp(B)], status == "valid", log_list(*LISTED, log))
    order = Log("rejected, sharded", interval=("2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z"), state="rejected")
    logs = log_list(*LISTED, order)
    yield case("order-interval-before-state", "of several statuses the first is told", [
        Stamp(order, "outside-interval"), Stamp(B)], False, logs)
    yield case("order-future-before-interval", "the time comes before the interval", [
        Stamp(order, "in-the-future", later(AT, days=1)), Stamp(B)], False, logs)
    yield case("order-signature-before-future", "and the signature before the time", [
        Stamp(order, "invalid-signature", later(AT, days=1), signer=B), Stamp(B)], False, logs)
    yield case("order-log-before-malformed-key", "an algorithm that is not known, of a log that is not known", [
        Stamp(Log("nowhere"), "unknown-log", algorithm=b"\5\3"), Stamp(B)], False)


def _signature(data):
    """The signature in the bytes of a timestamp with eight bytes of extensions."""
    return data[1 + 32 + 8 + 2 + 8 + 2 + 2:]


def certificates():
    good = [Stamp(A), Stamp(B)]
    yield case("none", "a certificate without timestamps: those of TLS and of staples do not count", [], False, listed=b"",
               source="issue 20")
    plain = Certificate("transparency plain", MIDDLE, ["api.example.com"])
    yield Case("transparency/no-extension", "a certificate without the extension", SOURCE, asked([plain, MIDDLE]),
               said(False))
    after = (x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.99999.1"), b"\5\0"), False)
    longer = (x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.99999.2"), bytes(300)), False)
    yield case("extension-in-the-middle", "exactly one extension is cut out", good, True, before=[longer], after=[after])
    yield case("extension-critical", "also where it is critical", good, True, critical=True)
    # The same object identifier but for its last number, and then that one.
    twice = (x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.9"), b"\4\4" + vector(b"\0\0")), False)
    double = logged("transparency twice", good, after=[twice]).der
    double = double.replace(bytes.fromhex("d679020409"), bytes.fromhex("d679020402"))
    yield Case("transparency/extension-twice", "the extension twice", SOURCE, asked([double, MIDDLE]), said(False))
    bare = (x509.CertificateBuilder().subject_name(x509.Name([])).issuer_name(MIDDLE.subject).serial_number(5)
            .public_key(plain.key.public_key()).not_valid_before(moment("2026-01-01T00:00:00Z"))
            .not_valid_after(moment("2026-03-31T23:59:59Z")))

    def signed(builder):
        return builder.sign(MIDDLE.key, hashes.SHA256(), ecdsa_deterministic=True).public_bytes(serialization.Encoding.DER)
    over = entry(signed(bare), MIDDLE)
    listed = vector(b"".join(vector(one.data(over)) for one in good))
    only = signed(bare.add_extension(*extension(listed)))
    yield Case("transparency/only-extension", "when it was the only extension, [3] goes too", SOURCE,
               asked([only, MIDDLE]), said(True, good))
    large = (x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.99999.3"), bytes(60_000)), False)
    yield case("large", "a certificate of 60,000 bytes", good, True, before=[large])
    one = Stamp(A).data(b"")
    for name, why, data in [
            ("list-empty", "a list of nothing", vector(b"")),
            ("list-cut-off", "a list that claims more than there is", b"\0\x09\0"),
            ("list-and-a-byte", "something behind the list", vector(vector(one)) + b"\0"),
            ("timestamp-beyond-the-list", "a timestamp that claims more than the list has", vector(b"\xff\xff" + one)),
            ("list-length-of-one-byte", "a length that is cut off", vector(vector(one) + b"\0"))]:
        yield case(name, why, [], False, listed=data)
    yield case("malformed", "a timestamp that is cut off, and one with a byte more", [
        Stamp(A, "malformed", change=lambda data: data[:-1]), Stamp(B, "malformed", change=lambda data: data + b"\0"),
        Other(b"", {"status": "malformed"}), *good], True)
    yield case("another-version", "timestamps of another version are passed over", [Other(b"\1" + bytes(70)), *good], True)
    yield case("another-version-alone", "and are no timestamps", [Other(b"\1")], False)
    for count, counts in ((32, True), (33, False)):
        stamps = [*good, *(Other(b"\1") for _ in range(count - 2))]
        listed = None if counts else vector(b"".join(vector(stamp.data(b"")) for stamp in stamps))
        yield case(f"limit-{count}", "32 timestamps in a certificate", stamps if counts else [], counts, listed=listed)


def counting():
    yield case("one-log", "one log for 90 days", [Stamp(A)], False)
    yield case("one-log-twice", "a log counts once, however often it signed", [
        Stamp(A), Stamp(A, at="2026-01-06T00:00:00Z")], False)
    for policy in ("chrome", "apple"):
        yield case(f"one-operator-{policy}", "two logs of one operator", [Stamp(A), Stamp(A2)], False, policy=policy)
        yield case(f"tiled-alone-{policy}", "two tiled logs: Apple asks for one that is none", [
            Stamp(TILED), Stamp(TILED2)],
                   policy == "chrome", policy=policy, source="issue 20")
        yield case(f"tiled-and-not-{policy}", "a tiled log and one that is none", [
            Stamp(TILED), Stamp(A)], True, policy=policy)
    yield case("invalid-beside-valid", "an invalid timestamp takes nothing away", [
        Stamp(A, "invalid-signature", signer=B), Stamp(A2), Stamp(B)], True)
    moved = Log("moved", "Beta", previous=[("Alpha", "2026-01-05T00:00:01Z"), ("Zeta", "2025-06-01T00:00:00Z")])
    logs = log_list(*LISTED, moved)
    yield case("previous-operator", "the operator is that of the time of the timestamp", [
        Stamp(moved, operator="Alpha"), Stamp(B)], True, logs)
    yield case("previous-operator-over", "from its end on it is the next one", [
        Stamp(moved, at="2026-01-05T00:00:01Z"), Stamp(B)], False, logs)
    yield case("first-operator", "the earliest of several", [
        Stamp(moved, at="2025-05-31T23:59:59Z", operator="Zeta"), Stamp(B)], True, logs)


def lifetimes():
    begins = "2026-01-01T00:00:00Z"

    def ending(days, seconds=0):
        return {"begins": begins, "ends": later(begins, days=days, seconds=seconds - 1)}
    two, three = [Stamp(A), Stamp(B)], [Stamp(A), Stamp(B), Stamp(C)]
    for policy in ("chrome", "apple"):
        yield case(f"180-days-{policy}", "two logs up to 180 days, both ends counted", two, True, policy=policy,
                   **ending(180))
        yield case(f"180-days-and-a-second-{policy}", "a second more asks for three", two, False, policy=policy,
                   **ending(180, 1))
        yield case(f"181-days-{policy}", "three beyond", three, True, policy=policy, **ending(181))
        same = [Stamp(A), Stamp(A2), Stamp(B)]
        yield case(f"200-days-two-of-an-operator-{policy}", "three logs, two of them of one operator", same, True,
                   policy=policy, **ending(200))
        yield case(f"200-days-one-operator-{policy}", "three logs of one operator", [Stamp(A), Stamp(A2), Stamp(A3)], False,
                   policy=policy, source="issue 20", **ending(200))
        yield case(f"90-days-two-of-an-operator-{policy}", "for Apple one log of an operator counts up to 180 days", same,
                   True, policy=policy)
        yield case(f"398-days-{policy}", "398 days", three, True, policy=policy, **ending(398))
        yield case(f"398-days-and-a-second-{policy}", "a second more: for Apple never", three, policy == "chrome",
                   policy=policy, **ending(398, 1))


def states():
    retired = {"state": "retired", "since": "2026-01-06T00:00:00Z"}
    for state in ("qualified", "usable", "readonly"):
        log = Log(f"state {state}", state=state)
        yield case(f"state-{state}", "a log that is accepted", [Stamp(log), Stamp(B)], True, log_list(*LISTED, log))
    for name, why, state in [("pending", "a log that is not accepted yet", "pending"),
                             ("rejected", "a log of which nothing counts", "rejected"),
                             ("absent", "a log without a state is pending", None),
                             ("unknown", "a state that nobody knows is pending", "frozen")]:
        log = Log(f"state {name}", state=state)
        yield case(f"state-{name}", why, [Stamp(log, "log-rejected"), Stamp(B)], False, log_list(*LISTED, log))
    old, older = Log("old", **retired), Log("older", "Beta", **retired)
    logs = log_list(*LISTED, old, older)
    yield case("retired-before", "a retired log counts where the earliest timestamp is from before its retirement", [
        Stamp(old), Stamp(B)], True, logs)
    yield case("retired-earliest-decides", "its own may be later, when another one is from before", [
        Stamp(old, at="2026-01-07T00:00:00Z"), Stamp(B)], True, logs)
    yield case("retired-after", "all timestamps are from after its retirement: it could date its own back", [
        Stamp(old, at="2026-01-06T00:00:00Z"), Stamp(B, at="2026-01-07T00:00:00Z")], False, logs, source="issue 20")
    yield case("retired-alone", "retired logs alone: none is accepted now", [Stamp(old), Stamp(older)], False, logs)
    yield case("retired-later", "until its retirement a log is accepted", [Stamp(old), Stamp(older)], True, logs,
               at="2026-01-05T23:59:59Z")
    yield case("retired-now", "and from then on it is not", [Stamp(old), Stamp(older)], False, logs,
               at="2026-01-06T00:00:00Z")


def log_lists():
    good = [Stamp(A), Stamp(B)]
    yield case("list-fraction", "a fraction of a second is cut", good, True,
               log_list(*LISTED, timestamp="2026-01-08T12:00:00.25Z"))
    yield case("list-old", "whoever asks for a judgement gets one by an old list, too: it enforces nothing", good, True,
               log_list(*LISTED, timestamp="2020-01-01T00:00:00Z"))
    yield case("list-unknown-members", "members that are not known are ignored", good, True,
               log_list(*LISTED, members={"later": [None, {"a": True}]}))
    before = log_list(A, B).replace('"name":"Alpha"', '"name":"Alpha","previous_operators":[{"name":"Beta","end_time":"'
                                    + later(SIGNED, seconds=1) + '"}]')
    yield case("list-operator-before-operator", "an operator's previous operators hold for its logs", [
        Stamp(A, operator="Beta"), Stamp(B)], False, before)
    leaf = logged("transparency lists", good)

    def read(name, why, text, satisfied=None):
        answer = {"refused": "malformed"} if satisfied is None else said(satisfied, good)
        return Case(f"transparency/list-{name}", why, SOURCE, asked([leaf, MIDDLE], text), answer)

    def with_log(**members):
        log = Log("a1")
        log.entry |= members
        return log_list(log, B)
    since = {"timestamp": "2025-01-01T00:00:00Z"}
    twice = Log("a1", tiled=True)
    for name, why, text in [
            ("key-twice", "two logs of one key", log_list(A, A, B)),
            ("key-twice-tiled", "one of them tiled", log_list(A, twice, B)),
            ("wrong-id", "an id that is not the SHA-256 of the key", with_log(log_id=b64(bytes(32)))),
            ("interval-empty", "an interval that ends when it begins", with_log(temporal_interval={
                "start_inclusive": SIGNED, "end_exclusive": SIGNED})),
            ("interval-turned", "an interval the wrong way round", with_log(temporal_interval={
                "start_inclusive": AT, "end_exclusive": SIGNED})),
            ("two-states", "two states", with_log(state={"usable": since, "retired": since})),
            ("state-text", "a state that is a text", with_log(state="usable")),
            ("no-key", "a log without a key", with_log(key=None).replace('"key":null,', "")),
            ("key-null", "a key that is null", with_log(key=None)),
            ("time", "a time with an offset", log_list(*LISTED, timestamp="2026-01-08T12:00:00+00:00")),
            ("operators-object", "operators that are no array", '{"operators":{}}'),
            ("no-operators", "a list without operators", "{}"),
            ("array", "no object", "[]"), ("not-json", "no JSON", "<html>"),
            ("nothing", "no byte", ""), ("member-twice", "a member twice", LOGS[:-1] + ',"operators":[]}'),
            ("description-with-fraction", "a number where a text belongs", with_log(description=1.5))]:
        yield read(name, why, text)
    for name, number in (("with-fraction", "1.5"), ("with-exponent", "1e400"), ("beyond-64-bits", "9223372036854775808")):
        yield read(f"number-{name}", "a member that is not known is ignored, with a number of any kind",
                   LOGS[:-1] + f',"x":{number}}}', True)
    size = 4_194_304
    for length, satisfied in ((size, True), (size + 1, None)):
        yield read(f"bytes-{length}", "4,194,304 bytes of a log list", {
            "$join": [LOGS, {"$repeat": " ", "times": length - len(LOGS.encode())}]}, satisfied)
    for count, satisfied in ((4_096, True), (4_097, None)):
        keys = [index.to_bytes(2, "big") for index in range(count - len(LISTED))]
        logs = compact([{"log_id": b64(hashlib.sha256(key).digest()), "key": b64(key)} for key in keys])
        yield read(f"logs-{count}", "4,096 logs in a list", LOGS.replace('"logs":[', '"logs":' + logs[:-1] + ",", 1), satisfied)
    for count, satisfied in ((64, True), (65, None)):
        yield read(f"previous-operators-{count}", "64 earlier operators of a log", with_log(previous_operators=[
            {"name": "Past", "end_time": "2025-06-01T00:00:00Z"}] * count), satisfied)
    values = _values(json.loads(LOGS))
    for count, satisfied in ((131_072, True), (131_073, None)):
        yield read(f"values-{count}", "131,072 JSON values in a log list, its own included", {
            "$join": [LOGS[:-1] + ',"x":[', {"$repeat": "0", "times": count - values - 1, "between": ","}, "]}"]}, satisfied)


def _values(value):
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_values, parts))


def main():
    write("transparency", "What the timestamps in a certificate are worth by a log list and a policy.", list(cases()))
