# SPDX-License-Identifier: CC0-1.0
"""What lists say of revoked certificates, log lists and Certificate Transparency."""
from lists_formats import payload_case, with_domain
from material import b64, compact, digest, envelope, pin
from metadata_material import PIN, PINS_KEY, Story, list_payload

SOURCE = "formats.md, section 3.2"
ONE = {"issuer": PIN, "serials": ["0a1b"]}


def cases():
    yield from revoked()
    yield from logs()
    yield from transparency()
    yield from limits()


def revoked():
    for name, why, elements, result in [
            ("revoked", "serial numbers of an issuer", [ONE], "newer"), ("revoked-none", "an element without one",
                                                                         [ONE | {"serials": []}], "newer"),
            ("revoked-report", "an element that only reports", [ONE | {"mode": "report", "note": "keyCompromise"}], "newer"),
            ("revoked-mode-off", "it is enforced or reported", [ONE | {"mode": "off"}], "malformed"),
            ("revoked-text", "an element is an object", ["0a1b"], "malformed"),
            ("revoked-without-issuer", "a serial number without an issuer", [{"serials": ["0a1b"]}], "malformed"),
            ("revoked-without-serials", "an issuer without serial numbers", [{"issuer": PIN}], "malformed"),
            ("revoked-serials-text", "serial numbers are an array", [ONE | {"serials": "0a1b"}], "malformed"),
            ("revoked-serial-number", "a serial number is a text", [ONE | {"serials": [2587]}], "malformed"),
            ("revoked-issuer-short", "an issuer's pin of 31 bytes", [ONE | {"issuer": "sha256/" + b64(bytes(31))}], "malformed"),
            ("revoked-issuer-certificate", "the pin of a certificate names no key", [
                ONE | {"issuer": pin(b"x", "cert-sha256/")}], "malformed"),
            ("revoked-issuer-of-another-form", "a pin of a form to come names nothing", [ONE | {"issuer": "sha3-256/x"}], "newer"),
            ("revoked-twice-in-one", "a serial number twice", [ONE | {"serials": ["0a1b", "0a1b"]}], "malformed"),
            ("revoked-twice-in-two", "twice for one issuer, in two elements", [ONE, ONE], "malformed"),
            ("revoked-one-issuer-twice", "several elements may have one issuer", [ONE, ONE | {"serials": ["0a1c"]}], "newer"),
            ("revoked-one-serial-twice", "two issuers may have one serial number", [ONE, ONE | {"issuer": pin(b"x")}], "newer")]:
        yield payload_case(name, why, list_payload(revoked=elements), result, SOURCE)
    for name, why, serial, result in [
            ("empty", "no octet", "", "malformed"), ("odd", "half an octet", "0a1", "malformed"),
            ("upper-case", "digits are in lower case", "0A1B", "malformed"), ("colons", "octets with colons", "0a:1b", "malformed"),
            ("prefix", "a prefix", "0x0a", "malformed"), ("blank", "a blank", " 0a1b", "malformed"),
            ("leading-zero", "a zero that DER does not have", "000a1b", "malformed"),
            ("negative-longer", "a negative number, longer than it has to be", "ff80", "malformed"),
            ("zero", "the number 0", "00", "newer"), ("needed-zero", "a zero that DER has", "00ff", "newer"),
            ("negative", "a negative number", "80", "newer")]:
        yield payload_case(f"revoked-serial-{name}", why, list_payload(revoked=[ONE | {"serials": [serial]}]), result, SOURCE)


def logs():
    good = {"sha256": digest(b"a log list"), "length": 61_234}
    for name, why, value, result in [
            ("logs", "a log list beside the list", good, "newer"), ("logs-text", "logs that are no object", good["sha256"], "malformed"),
            ("logs-without-digest", "no digest", {"length": 5}, "malformed"),
            ("logs-without-length", "no length", {"sha256": good["sha256"]}, "malformed"),
            ("logs-digest-short", "a digest of 31 bytes", good | {"sha256": good["sha256"][2:]}, "malformed"),
            ("logs-digest-upper-case", "a digest in upper case", good | {"sha256": good["sha256"].upper()}, "malformed"),
            ("logs-digest-path", "a digest that leads elsewhere", good | {"sha256": "../" * 21 + "x"}, "malformed"),
            ("logs-length-text", "a length that is a text", good | {"length": "5"}, "malformed"),
            ("logs-length-0", "a file without a byte", good | {"length": 0}, "malformed"),
            ("logs-length-1", "the shortest", good | {"length": 1}, "newer"),
            ("logs-length-longest", "the longest", good | {"length": 4_194_304}, "newer"),
            ("logs-length-beyond", "a byte more", good | {"length": 4_194_305}, "malformed")]:
        yield payload_case(name, why, list_payload(logs=value), result, SOURCE)


def transparency():
    for name, why, rule, result in [
            ("chrome", "a policy", {"mode": "enforce", "policy": "chrome"}, "newer"),
            ("apple", "another one", {"mode": "report", "policy": "apple"}, "newer"), ("off", "off needs no policy",
                                                                                       {"mode": "off"}, "newer"),
            ("without-mode", "the default is off", {"policy": "chrome"}, "newer"),
            ("mode-unknown", "a mode to come refuses no list", {"mode": "warn", "policy": "chrome"}, "newer"),
            ("policy-unknown", "nor does a policy to come", {"mode": "enforce", "policy": "chrome-2027"}, "newer"),
            ("without-policy", "a mode without a policy", {"mode": "enforce"}, "malformed"),
            ("mode-number", "a mode that is a number", {"mode": 1, "policy": "chrome"}, "malformed"),
            ("policy-number", "a policy that is a number", {"mode": "off", "policy": 1}, "malformed"),
            ("text", "a rule that is a text", "chrome", "malformed"), ("null", "a rule that is null", None, "malformed")]:
        yield payload_case(f"transparency-{name}", why, with_domain(transparency=rule), result, SOURCE)


def limits():
    for octets, result in ((64, "newer"), (65, "malformed")):
        yield payload_case(f"limit-serial-{octets}", "64 octets of a serial number", list_payload(
            revoked=[ONE | {"serials": ["11" * octets]}]), result, SOURCE)

    def offered(name, why, elements, result):
        before, after = compact(list_payload(revoked=["@"])).split('"@"')
        value = {"$join": [before, *elements, after]}
        return Story(name, why, SOURCE).list(envelope(value, [PINS_KEY]), result).case()

    for count, result in ((256, "newer"), (257, "malformed")):
        texts = ",".join(compact({"issuer": pin(b"%d" % index), "serials": ["01"]}) for index in range(count))
        yield offered(f"limit-revoked-{count}", "256 elements of revoked", [texts], result)
    for count, result in ((4_096, "newer"), (4_097, "malformed")):
        first = compact({"issuer": PIN, "serials": ["%06x" % (0x010000 + index) for index in range(4_000)]})
        second = compact({"issuer": pin(b"x"), "serials": ["%06x" % (0x010000 + index) for index in range(count - 4_000)]})
        yield offered(f"limit-serials-{count}", "4,096 serial numbers in all", [first, ",", second], result)
