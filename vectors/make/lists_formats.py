# SPDX-License-Identifier: CC0-1.0
"""What is malformed, and each limit at its end and one beyond."""
import recipes
from material import Signer, b64, compact, digest, envelope, pin
from metadata_material import (BACKUP, OTHER_KEY, PIN, PINS_KEY, ROOT_KEY, Story, list_payload, pin_list, root,
                               root_payload)

SOURCE = "formats.md, section 3"
TYPE = "application/vnd.tumbler.pins+json"
DOMAIN = {"domain": "api.example.com", "pins": [{"pin": PIN}, {"pin": BACKUP}]}


def cases():
    yield from envelopes()
    yield from payloads()
    yield from domains()
    yield from rest_of_lists()
    yield from roots()
    yield from limits()


def offered(name, why, text, result, source=SOURCE):
    """One list, offered to a client that holds none."""
    return Story(f"{name}", why, source).list(text, result).case()


def envelopes():
    good = pin_list()
    for name, why, text in [
            ("empty", "no bytes", ""), ("not-json", "no JSON", "hello"), ("array", "no object", "[]"),
            ("cut-off", "the last byte is missing", good[:-1]), ("something-follows", "something follows", good + "{}"),
            ("byte-order-mark", "a byte order mark in front", "\ufeff" + good),
            ("payload-twice", "a member that is there twice: two readers take two payloads",
             good[:-1] + ',"payload":"e30="}'),
            ("escaped-member-twice", "the same, where one name is escaped", good[:-1] + ',"p\\u0061yload":"e30="}'),
            ("signatures-missing", "no signatures member", compact({"payloadType": TYPE, "payload": "e30="})),
            ("payload-missing", "no payload", compact({"payloadType": TYPE, "signatures": []})),
            ("payload-null", "a payload that is null", compact({"payloadType": TYPE, "payload": None, "signatures": []})),
            ("payload-number", "a payload that is a number", compact({"payloadType": TYPE, "payload": 1, "signatures": []})),
            ("payload-not-base64", "a payload in another alphabet", good.replace('"payload":"', '"payload":"-_')),
            ("signature-text", "a signature that is a text", compact({"payloadType": TYPE, "payload": "e30=",
                                                                      "signatures": ["x"]})),
            ("signature-keyid-number", "a keyid that is a number", compact(
                {"payloadType": TYPE, "payload": "e30=", "signatures": [{"keyid": 1, "sig": ""}]})),
            ("signature-without-sig", "a signature without its bytes", compact(
                {"payloadType": TYPE, "payload": "e30=", "signatures": [{"keyid": ""}]})),
            ("number-with-fraction", "a number with a fraction, in a member that nobody knows", good[:-1] + ',"x":1.0}'),
            ("number-with-exponent", "a number with an exponent", good[:-1] + ',"x":1e2}'),
            ("number-beyond-64-bits", "a number beyond 64 bits", good[:-1] + ',"x":9223372036854775808}'),
            ("nan", "NaN is no JSON", good[:-1] + ',"x":NaN}'), ("comment", "a comment is no JSON", good + "// end"),
            ("trailing-comma", "a comma at the end", good[:-1] + ",}"), ("single-quotes", "single quotes", "{'a':1}"),
            ("lone-surrogate", "half of a surrogate pair", good[:-1] + ',"x":"\\ud800"}'),
            ("control-character", "a line break in a text", good[:-1] + ',"x":"\n"}')]:
        yield offered(f"envelope-{name}", why, text, "malformed")
    yield offered("envelope-unknown-member", "members that nobody knows are ignored", good[:-1] + ',"x":{"y":[null,true]}}',
                  "newer")
    yield offered("envelope-numbers-of-64-bits", "the highest and the lowest number", good[:-1]
                  + ',"x":[9223372036854775807,-9223372036854775808]}', "newer")
    yield offered("envelope-members-that-look-alike", "names are their bytes: a composed and a decomposed letter differ",
                  good[:-1] + ',"\u00e9":1,"e\u0301":2}', "newer")
    yield offered("envelope-signature-without-keyid", "DSSE leaves the keyid to who signs: it is a hint",
                  good.replace(f'"keyid":"{PINS_KEY.id}",', ""), "newer", "formats.md, section 3; DSSE 1.0.2")
    yield offered("envelope-white-space", "white space around and between", "\r\n\t " + good.replace(",", " ,\n") + " \n",
                  "newer")
    yield offered("envelope-pae", "the payload type is signed, too: this one is another spelling of the same text",
                  good.replace("application/", "application\\/"), "newer")


def payload_case(name, why, payload, result="malformed", source=SOURCE):
    return offered(name, why, envelope(payload, [PINS_KEY]), result, source)


def payloads():
    for name in ("specVersion", "name", "version", "issuedAt", "expiresAt", "domains", "type"):
        yield payload_case(f"{name.lower()}-missing", "a member that is required", list_payload(**{name: None}))
    text = compact(list_payload())
    for name, why, payload in [
            ("payload-not-json", "no JSON", "{"), ("payload-array", "no object", "[]"),
            ("payload-member-twice", "a member twice, signed as it is", text[:-1] + ',"version":8}'),
            ("payload-number-with-fraction", "7.0 is not 7", text.replace('"version":7', '"version":7.0')),
            ("payload-number-with-exponent", "7e0 is not 7", text.replace('"version":7', '"version":7e0'))]:
        yield payload_case(name, why, payload)
    for name, why, members in [
            ("version-0", "the lowest version is 1", {"version": 0}), ("version-negative", "a version below 0", {"version": -1}),
            ("version-beyond", "one beyond the highest version", {"version": 2**53}),
            ("version-text", "a version that is a text", {"version": "7"}), ("version-true", "true is no number",
                                                                            {"version": True}),
            ("specversion-2", "another major number", {"specVersion": "2.0"}),
            ("specversion-one-number", "no minor number", {"specVersion": "1"}),
            ("specversion-number", "a specVersion that is a number", {"specVersion": 1}),
            ("ends-when-it-begins", "expiresAt is not after issuedAt", {"expiresAt": "2026-01-01T00:00:00Z"}),
            ("time-offset", "a time with an offset", {"issuedAt": "2026-01-01T00:00:00+00:00"}),
            ("time-fraction", "a time with a fraction", {"issuedAt": "2026-01-01T00:00:00.0Z"}),
            ("time-lower-case", "a time in lower case", {"issuedAt": "2026-01-01t00:00:00z"}),
            ("time-blank", "a blank in place of the T", {"issuedAt": "2026-01-01 00:00:00Z"}),
            ("time-no-day", "a day that no calendar has", {"issuedAt": "2025-02-29T00:00:00Z"}),
            ("time-leap-second", "a second 60", {"issuedAt": "2025-12-31T23:59:60Z"}),
            ("time-hour-24", "an hour 24", {"issuedAt": "2025-12-31T24:00:00Z"}),
            ("name-empty", "no name", {"name": ""}), ("name-begins-with-dot", "a name that begins with a dot", {"name": ".a"}),
            ("name-slash", "a name that leads elsewhere", {"name": "a/../b"}), ("name-129", "a name of 129 characters",
                                                                               {"name": "a" * 129}),
            ("unlisted-unknown", "an unknown rule for unlisted hosts refuses the list", {"unlisted": "ask"}),
            ("refreshafter-text", "refreshAfter as a text", {"refreshAfter": "12h"}),
            ("refreshafter-negative", "refreshAfter below 0", {"refreshAfter": -1}),
            ("reportpermillion-0", "one installation at least", {"reportPerMillion": 0}),
            ("reportpermillion-beyond", "one beyond all installations", {"reportPerMillion": 1_000_001}),
            ("reportto-text", "reportTo as a text", {"reportTo": "https://reports.example.com/"}),
            ("reportto-http", "reports over cleartext", {"reportTo": ["http://reports.example.com/"]}),
            ("reportto-no-address", "no address", {"reportTo": ["reports"]}),
            ("reportto-file", "a file", {"reportTo": ["file:///etc/passwd"]}),
            ("reportto-loopback-name", "a name that only begins like loopback", {"reportTo": ["http://127.0.0.1.example/"]})]:
        yield payload_case(name, why, list_payload(**members))
    for name, why, members in [
            ("version-1", "the lowest version", {"version": 1}), ("version-highest", "the highest version",
                                                                  {"version": 2**53 - 1}),
            ("specversion-minor", "a higher minor number is read", {"specVersion": "1.9"}),
            ("unknown-member", "members that nobody knows are ignored by clients", {"future": {"a": [1]}}),
            ("time-leap-day", "a day that only leap years have", {"issuedAt": "2024-02-29T00:00:00Z"}),
            ("no-domains", "a list without an entry", {"domains": []}),
            ("reportpermillion-1", "one of a million", {"reportPerMillion": 1}),
            ("reportpermillion-all", "all", {"reportPerMillion": 1_000_000}),
            ("reportto-loopback", "cleartext to loopback", {"reportTo": ["http://127.0.0.1:8480/", "http://localhost/",
                                                                         "http://[::1]:8480/v1"]}),
            ("reportto-https", "https with a port and a path", {"reportTo": ["https://reports.example.com:8443/v1/reports"]}),
            ("refreshafter-beyond", "what is out of range is clamped and not refused", {"refreshAfter": 10_000_000})]:
        yield payload_case(name, why, list_payload(**members), "newer")


def with_domain(**members):
    return list_payload(domains=[DOMAIN | members])


def domains():
    leaf, issuer, any_pin = ({"pin": PIN, "position": "leaf"}, {"pin": BACKUP, "position": "issuer"}, {"pin": PIN})
    for name, why, members in [
            ("domain-no-host", "no host", {"domain": "not a host"}), ("domain-wildcard", "a wildcard", {"domain": "*.example.com"}),
            ("domain-address-with-subdomains", "an address has no subdomains", {"domain": "192.0.2.1",
                                                                                "includeSubdomains": True}),
            ("domain-includesubdomains-number", "1 is not true", {"includeSubdomains": 1}),
            ("domain-mode-unknown", "an unknown mode refuses the list", {"mode": "warn"}),
            ("domain-mode-upper-case", "modes are in lower case", {"mode": "Enforce"}),
            ("domain-rollout-101", "one beyond", {"rollout": 101}), ("domain-rollout-negative", "one below", {"rollout": -1}),
            ("domain-without-pins", "enforce without a pin", {"pins": []}),
            ("domain-report-without-pins", "report without a pin", {"pins": [], "mode": "report"}),
            ("domain-pins-object", "pins that are no array", {"pins": {}}),
            ("domain-pin-text", "a pin that is a text", {"pins": [PIN]}),
            ("domain-pin-short", "a pin of 31 bytes", {"pins": [{"pin": "sha256/" + b64(bytes(31))}]}),
            ("domain-pin-long", "a pin of 33 bytes", {"pins": [{"pin": "sha256/" + b64(bytes(33))}]}),
            ("domain-certificate-pin-short", "a certificate pin of 31 bytes", {"pins": [{"pin": "cert-sha256/" + b64(bytes(31))}]}),
            ("domain-pin-not-base64", "a pin that is no base64", {"pins": [{"pin": "sha256/" + "*" * 44}]}),
            ("domain-position-number", "a position that is a number", {"pins": [{"pin": PIN, "position": 1}]}),
            ("domain-requireissuer-any", "requireIssuer with a pin of any position", {"requireIssuer": True, "pins":
                                                                                     [leaf, issuer, any_pin]}),
            ("domain-requireissuer-no-issuer", "requireIssuer without an issuer pin", {"requireIssuer": True, "pins": [leaf]}),
            ("domain-requireissuer-no-leaf", "requireIssuer without a leaf pin", {"requireIssuer": True, "pins": [issuer]}),
            ("domain-reportto-http", "an entry's own address over cleartext", {"reportTo": ["http://a.example/"]}),
            ("domain-reportpermillion-0", "an entry's own number out of range", {"reportPerMillion": 0}),
            ("domain-expiresat-number", "an end that is a number", {"expiresAt": 1})]:
        yield payload_case(name, why, with_domain(**members))
    for name, why, members in [
            ("domain-off-without-pins", "off needs no pin", {"mode": "off", "pins": []}),
            ("domain-rollout-0", "the lowest share", {"rollout": 0}), ("domain-rollout-100", "the highest share",
                                                                       {"rollout": 100}),
            ("domain-pin-of-another-form", "a pin of a form to come matches nothing", {"pins": [{"pin": "sha3-256/abc"}]}),
            ("domain-position-unknown", "a position to come matches nothing", {"pins": [{"pin": PIN, "position": "root"}]}),
            ("domain-requireissuer", "both positions", {"requireIssuer": True, "pins": [leaf, issuer]}),
            ("domain-ended", "an entry that has ended", {"expiresAt": "2020-01-01T00:00:00Z"}),
            ("domain-unknown-member", "a member that nobody knows", {"future": True})]:
        yield payload_case(name, why, with_domain(**members), "newer")
    for name, why, first, second in [
            ("domains-equal", "a domain twice", "a.example", "a.example"),
            ("domains-equal-case", "twice after normalisation", "a.example", "A.EXAMPLE."),
            ("domains-equal-address", "an address twice, in two spellings", "2001:db8::1", "2001:db8:0:0::1"),
            ("domains-equal-mapped", "an address and the IPv6 form of it", "192.0.2.1", "::ffff:192.0.2.1")]:
        yield payload_case(name, why, list_payload(domains=[DOMAIN | {"domain": first}, DOMAIN | {"domain": second}]))


def rest_of_lists():
    stop = {"domain": "*", "until": "2026-01-02T00:00:00Z", "reason": "incident"}
    for name, why, members, result in [
            ("denied-text", "a bare text is an enforcing entry", {"denied": [PIN]}, "newer"),
            ("denied-short", "a denied pin of 31 bytes", {"denied": ["sha256/" + b64(bytes(31))]}, "malformed"),
            ("denied-number", "a denied key that is a number", {"denied": [1]}, "malformed"),
            ("denied-mode-off", "a denied key is enforced or reported", {"denied": [{"pin": PIN, "mode": "off"}]}, "malformed"),
            ("denied-without-pin", "a denied key without a pin", {"denied": [{"note": "x"}]}, "malformed"),
            ("denied-null", "denied as null", {"denied": [None]}, "malformed"),
            ("suspended", "a suspension of a day", {"suspended": [stop]}, "newer"),
            ("suspended-without-until", "a suspension without an end",
             {"suspended": [{"domain": "*", "reason": "x"}]}, "malformed"),
            ("suspended-without-reason", "a suspension without a reason",
             {"suspended": [{"domain": "*", "until": stop["until"]}]}, "malformed"),
            ("suspended-7-days", "the longest suspension", {"suspended": [stop | {"until": "2026-01-08T00:00:00Z"}]}, "newer"),
            ("suspended-beyond-7-days", "one second longer", {"suspended": [stop | {"until": "2026-01-08T00:00:01Z"}]},
             "malformed"),
            ("suspended-until-issued", "a suspension that ends when the list begins",
             {"suspended": [stop | {"until": "2026-01-01T00:00:00Z"}]}, "malformed"),
            ("suspended-no-host", "a suspension of what is no host", {"suspended": [stop | {"domain": "*.a.example"}]},
             "malformed"),
            ("suspended-unlisted-host", "a suspension of a domain that has no entry", {"suspended": [
                stop | {"domain": "other.example"}]}, "newer")]:
        yield payload_case(name, why, list_payload(**members), result)


def root_case(name, why, payload, result="malformed"):
    return Story(name, why, SOURCE).root(envelope(payload, [ROOT_KEY], "root"), result).case()


def roots():
    def with_role(name, value):
        payload = root_payload(2)
        payload["roles"] = payload["roles"] | {name: value}
        return payload
    ids = [PINS_KEY.id]
    for name, why, payload in [
            ("root-threshold-0", "a threshold below 1", with_role("pins", {"keyids": ids, "threshold": 0})),
            ("root-threshold-beyond", "a threshold above the number of keyids", with_role("pins", {"keyids": ids,
                                                                                                   "threshold": 2})),
            ("root-keyid-twice", "a keyid twice in a role", with_role("pins", {"keyids": ids * 2, "threshold": 1})),
            ("root-keyid-absent", "a keyid without a key", with_role("pins", {"keyids": [OTHER_KEY.id], "threshold": 1})),
            ("root-keyids-none", "a role without keys", with_role("pins", {"keyids": [], "threshold": 1})),
            ("root-role-missing", "no role for lists", root_payload(2, roles={"root": {"keyids": [ROOT_KEY.id],
                                                                                       "threshold": 1}})),
            ("root-keyid-upper-case", "a keyid in upper case", root_payload(2, keys={
                ROOT_KEY.id: ROOT_KEY.entry, PINS_KEY.id: PINS_KEY.entry, OTHER_KEY.id.upper(): OTHER_KEY.entry})),
            ("root-keyid-of-another-key", "a keyid that does not match its key", root_payload(2, keys={
                ROOT_KEY.id: ROOT_KEY.entry, PINS_KEY.id: PINS_KEY.entry, OTHER_KEY.id: PINS_KEY.entry})),
            ("root-key-not-base64", "a key that is no base64", root_payload(2, keys={
                ROOT_KEY.id: ROOT_KEY.entry, PINS_KEY.id: PINS_KEY.entry, digest(b""): {"algorithm": "ed25519",
                                                                                         "publicKey": "*"}})),
            ("root-keys-array", "keys as an array", root_payload(2, keys=[])),
            ("root-version-0", "a version below 1", root_payload(0)),
            ("root-specversion-2", "another major number", root_payload(2, specVersion="2.0"))]:
        yield root_case(name, why, payload)
    yield root_case("root-unknown-role", "a role that nobody knows is ignored", with_role("log", {"keyids": 1}), "newer")
    yield root_case("root-unused-key", "a key of no role", root_payload(2, also=[OTHER_KEY]), "newer")


def limits():
    source = "formats.md, sections 3, 3.1 and 3.2"
    keys = [Signer(f"limit {index}") for index in range(33)]
    for count, result in ((32, "newer"), (33, "malformed")):
        yield Story(f"limit-keys-{count}", "32 keys in a root", source).root(
            envelope(root_payload(2, also=keys[:count - 2]), [ROOT_KEY], "root"), result).case()
        yield offered(f"limit-signatures-{count}", "32 signatures in an envelope",
                      pin_list(7, [*keys[:count - 1], PINS_KEY]), result, source)
    for size, result in ((65_536, "newer"), (65_537, "malformed")):
        text = pin_list()
        zeros = {"$repeat": "A", "times": size // 3 * 4}
        tail = b64(bytes(size % 3)) if size % 3 else ""
        yield offered(f"limit-signature-{size}", "65,536 bytes of a signature that no known key has",
                      {"$join": [text[:-2] + ',{"keyid":"","sig":"', zeros, tail + '"}]}']}, result, source)
    # The envelope, its three members, and the signature with its two members: seven values.
    for count, result in ((4_096, "newer"), (4_097, "malformed")):
        yield offered(f"limit-values-{count}", "4,096 JSON values in an envelope, its own included",
                      {"$join": [pin_list()[:-1] + ',"x":[', {"$repeat": "0", "times": count - 8, "between": ","}, "]}"]},
                      result, source)
    for depth, result in ((32, "newer"), (33, "malformed")):
        yield offered(f"limit-depth-{depth}", "values lie at most 32 deep in one another",
                      {"$join": [pin_list()[:-1] + ',"x":', {"$repeat": "[", "times": depth - 1},
                                 {"$repeat": "]", "times": depth - 1}, "}"]}, result, source)

    def parts(name, value):
        """The text of a list before and after what stands in one of its arrays."""
        before, after = compact(list_payload(**{name: ["@"]})).split('"@"')
        return before, value, after
    domain = '{"domain":"d#.example","mode":"off"}'
    stop = '{"domain":"d#.example","until":"2026-01-02T00:00:00Z","reason":"x"}'
    for name, text, most in (("domains", domain, 10_000), ("suspended", stop, 256), ("denied", f'"{PIN}"', 256)):
        for count, result in ((most, "newer"), (most + 1, "malformed")):
            value = {"$repeat": text, "times": count, "between": ","}
            yield offered(f"limit-{name}-{count}", f"{most:,} {name}",
                          envelope({"$join": list(parts(name, value))}, [PINS_KEY]), result, source)
    for count, result in ((16, "newer"), (17, "malformed")):
        pins = [{"pin": pin(b"%d" % index)} for index in range(count)]
        yield payload_case(f"limit-pins-{count}", "16 pins a domain", with_domain(pins=pins), result, source)
    name = "a" * 128
    yield Story("limit-name-128", "the longest name", source, shipped=root(name=name)).list(pin_list(name=name)).case()
    for kind, most in (("pins", 4_194_304), ("root", 512_000)):
        text = pin_list() if kind == "pins" else root(2)
        for size, result in ((most, "newer"), (most + 1, "too-large")):
            blanks = {"$join": [text, {"$repeat": " ", "times": size - len(recipes.expand(text).encode())}]}
            story = Story(f"limit-{kind}-bytes-{size}", f"{most:,} bytes of an envelope", source)
            yield (story.list(blanks, result) if kind == "pins" else story.root(blanks, result)).case()
    address = "https://reports.example.com/"
    for size, result in ((2_048, "newer"), (2_049, "malformed")):
        yield payload_case(f"limit-address-{size}", "2,048 bytes of an address", list_payload(
            reportTo=[address + "a" * (size - len(address))]), result, source)
