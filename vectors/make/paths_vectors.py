# SPDX-License-Identifier: CC0-1.0
"""paths.json: from a presented chain and roots to the validated path."""
from cryptography import x509

from material import Case, Certificate, Signer, b64, openssl_pin, signed_again, write
from transparency_material import rsa_key

SOURCE = "RFC 5280; RFC 9525; formats.md, section 4.1"
AT = "2026-06-01T00:00:00Z"
HOST = "api.example.com"
ROOT = Certificate("paths root", authority=True, begins="2020-01-01T00:00:00Z", ends="2040-01-01T00:00:00Z")
MIDDLE = Certificate("paths intermediate", ROOT, authority=True, length=0)
LEAF = Certificate("paths leaf", MIDDLE, [HOST])
STRANGE_ROOT = Certificate("paths strange root", authority=True, begins="2020-01-01T00:00:00Z", ends="2040-01-01T00:00:00Z")


def case(name, why, chain, path=None, host=HOST, at=AT, roots=(ROOT,), refused="chain-invalid", source=SOURCE):
    answer = {"path": [openssl_pin(one.der) for one in path]} if path else {"refused": refused}
    return Case(f"paths/{name}", why, source, {
        "do": "validate-path", "chain": [one if isinstance(one, str) else b64(one.der) for one in chain],
        "roots": [b64(one.der) for one in roots], "host": host, "at": at}, answer)


def leaf(name, hosts=(HOST,), issuer=MIDDLE, **more):
    return Certificate(f"paths {name}", issuer, list(hosts), **more)


def cases():
    good = (LEAF, MIDDLE, ROOT)
    yield case("good", "leaf, intermediate, anchor", [LEAF, MIDDLE], good)
    yield case("anchor-presented", "the anchor is presented, too", good, good)
    direct = leaf("direct", issuer=ROOT)
    yield case("direct", "a leaf under an anchor", [direct], (direct, ROOT))
    yield case("other-order", "what is behind the leaf may stand in any order", [LEAF, ROOT, MIDDLE], good)
    yield case("something-beside", "certificates that lead nowhere", [LEAF, STRANGE_ROOT, MIDDLE], good)
    yield case("several-roots", "the anchor among others", [LEAF, MIDDLE], good, roots=(STRANGE_ROOT, ROOT))
    yield case("nothing", "nothing was presented", [], refused="no-certificates")
    yield case("no-intermediate", "the intermediate is missing", [LEAF])
    yield case("strange-root", "an anchor that nobody trusts", [LEAF, MIDDLE, ROOT], roots=(STRANGE_ROOT,))
    alone = Certificate("paths self-signed", hosts=[HOST])
    yield case("self-signed", "a self-signed leaf", [alone])
    foreign = leaf("foreign", issuer=STRANGE_ROOT)
    yield case("appended", "a pinned certificate appended to a foreign chain is in no path", [foreign, STRANGE_ROOT, LEAF, MIDDLE],
               source="issue 22")
    yield from moments()
    yield from names()
    yield from extensions()
    yield from signatures()
    yield from limits()


def moments():
    good = (LEAF, MIDDLE, ROOT)
    yield case("begins-now", "a certificate holds from the second that it names", [LEAF, MIDDLE], good, at="2026-01-01T00:00:00Z")
    yield case("begins-in-a-second", "a second before", [LEAF, MIDDLE], at="2025-12-31T23:59:59Z")
    yield case("ends-now", "to the second that it names", [LEAF, MIDDLE], good, at="2027-01-01T00:00:00Z")
    yield case("ended-a-second-ago", "a second after", [LEAF, MIDDLE], at="2027-01-01T00:00:01Z")
    short = Certificate("paths ended intermediate", ROOT, authority=True, begins="2025-01-01T00:00:00Z",
                        ends="2026-05-01T00:00:00Z")
    one = leaf("under ended intermediate", issuer=short)
    yield case("intermediate-ended", "the intermediate has ended", [one, short])
    old = Certificate("paths ended root", authority=True, begins="2020-01-01T00:00:00Z", ends="2026-05-01T00:00:00Z")
    under = leaf("under ended root", issuer=old)
    yield case("anchor-ended", "of an anchor the validity is looked at", [under], roots=(old,))


def names():
    for name, why, hosts, host, holds in [
            ("another", "a certificate for another host", ["other.example"], HOST, False),
            ("several", "one of several names", ["other.example", HOST], HOST, True),
            ("case", "names have no case", ["API.example.COM"], HOST, True),
            ("request-case", "nor does the request", [HOST], "API.Example.com.", True),
            ("wildcard", "a wildcard stands for one label", ["*.example.com"], HOST, True),
            ("wildcard-two-labels", "and not for two", ["*.example.com"], "a.api.example.com", False),
            ("wildcard-no-label", "and not for none", ["*.example.com"], "example.com", False),
            ("parent", "a name does not cover what is below it", ["example.com"], HOST, False),
            ("suffix", "names are compared by label", ["evilapi.example.com"], HOST, False),
            ("address", "an address", ["192.0.2.1"], "192.0.2.1", True),
            ("address-another", "another address", ["192.0.2.1"], "192.0.2.2", False),
            ("address-six", "an IPv6 address, in another spelling", ["2001:db8::1"], "[2001:DB8:0::1]", True)]:
        one = leaf(f"name {name}", hosts)
        yield case(f"name-{name}", why, [one, MIDDLE], (one, MIDDLE, ROOT) if holds else None, host)
    text = Certificate("paths address as a name", MIDDLE, ["placeholder.example"], subject="192.0.2.1")
    yield case("name-address-in-subject", "an address is not looked for in the subject", [text, MIDDLE], host="192.0.2.1")
    bare = leaf("common name", hosts=(HOST,), subject=HOST, alternative=False)
    yield case("name-in-subject", "a host is not looked for in the subject", [bare, MIDDLE])
    for name, why, host in [
            ("empty-label", "a host with an empty label", "api..example.com"),
            ("number", "a host whose last label is a number", "api.example.1"),
            ("nothing", "a host that is empty", "")]:
        yield case(f"name-invalid-{name}", f"{why}, before a chain that would do", [LEAF, MIDDLE], host=host, refused="host-invalid")
    yield case("name-invalid-and-nothing", "what is wrong with the host comes before what is wrong with the chain", [], host="a b",
               refused="host-invalid")


def extensions():
    pathless = Certificate("paths no authority", ROOT, [HOST])
    under = leaf("under no authority", issuer=pathless)
    yield case("intermediate-is-a-leaf", "a leaf signs another leaf: the oldest attack there is", [under, pathless])
    denied = Certificate("paths authority false", ROOT, [HOST], length=None, extra=[
        (x509.BasicConstraints(False, None), True)])
    under = leaf("under authority false", issuer=denied)
    yield case("intermediate-says-no", "basicConstraints says that it is no authority", [under, denied])
    second = Certificate("paths second intermediate", MIDDLE, authority=True)
    deep = leaf("deep", issuer=second)
    yield case("path-length", "a path length of 0, and one intermediate more", [deep, second, MIDDLE])
    mute = Certificate("paths no keyCertSign", ROOT, authority=True, usage=False)
    under = leaf("under no keyCertSign", issuer=mute)
    yield case("no-key-cert-sign", "an authority whose key may not sign certificates", [under, mute])
    client = leaf("client", purpose=x509.ExtendedKeyUsageOID.CLIENT_AUTH)
    yield case("client-certificate", "a certificate for clients", [client, MIDDLE])
    critical = leaf("critical", extra=[(x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.99999.1"), b"\5\0"),
                                        True)])
    yield case("unknown-critical", "a critical extension that nobody knows", [critical, MIDDLE])
    loose = leaf("not critical", extra=[(x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.99999.1"), b"\5\0"),
                                         False)])
    yield case("unknown-not-critical", "one that is not critical is passed over", [loose, MIDDLE], (loose, MIDDLE, ROOT))
    for name, why, permitted, excluded, holds in [
            ("permitted", "a host below a permitted name", ["example.com"], None, True),
            ("not-permitted", "a host beside it", ["example.org"], None, False),
            ("excluded", "a host below an excluded name", None, ["example.com"], False),
            ("not-excluded", "a host beside it", None, ["example.org"], True)]:
        def dns(names):
            return names and [x509.DNSName(one) for one in names]
        bound = Certificate(f"paths constraints {name}", ROOT, authority=True, constraints=x509.NameConstraints(
            dns(permitted), dns(excluded)))
        one = leaf(f"under constraints {name}", issuer=bound)
        yield case(f"constraints-{name}", why, [one, bound], (one, bound, ROOT) if holds else None)


def signatures():
    forged = Certificate("paths forged", MIDDLE, [HOST], signer=Signer("forger", "ecdsa-p256-sha256").key)
    yield case("forged", "the names are right, the signature is another key's", [forged, MIDDLE])
    data = bytearray(LEAF.der)
    data[-1] ^= 1
    yield case("bit-flipped", "one bit of the signature", [b64(bytes(data)), MIDDLE])
    copy = Certificate("paths leaf", MIDDLE, [HOST], key=Signer("thief", "ecdsa-p256-sha256").key,
                       signer=Signer("forger", "ecdsa-p256-sha256").key)
    yield case("copied-names", "a copy of the pinned certificate with another key", [copy, MIDDLE], source="issue 22")
    twin = Certificate("paths intermediate", Certificate("paths root", authority=True, key=STRANGE_ROOT.key), authority=True,
                       key=Signer("twin", "ecdsa-p256-sha256").key)
    under = leaf("under the twin", issuer=twin)
    yield case("authority-of-the-same-name", "an intermediate that only has the name of one", [under, twin])
    yield case("cut-off", "a certificate that is cut off", [b64(LEAF.der[:-1]), MIDDLE])


def limits():
    for octets, holds in ((b"\0" + b"\xff" * 20, True), (b"\x11" * 21, False)):
        long = Certificate("paths serial number", MIDDLE, [HOST])
        long.der = signed_again(long.der, MIDDLE.key, lambda fields: [*fields[:1], (2, octets), *fields[2:]])
        yield case(f"limit-serial-{20 if holds else 21}", "20 octets of a serial number, without the zero that keeps it positive",
                   [long, MIDDLE], (long, MIDDLE, ROOT) if holds else None)
    for bits in (2_048, 2_047):
        one = leaf(f"rsa {bits}", key=rsa_key("paths rsa", bits))
        yield case(f"limit-rsa-{bits}", "2,048 bits of an RSA key, which is the least", [one, MIDDLE],
                   (one, MIDDLE, ROOT) if bits == 2_048 else None)


def main():
    import paths_revocation
    write("paths", "From a presented chain, roots, a host and a time to the validated path.",
          [*cases(), *paths_revocation.cases()])
