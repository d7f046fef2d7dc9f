# SPDX-License-Identifier: CC0-1.0
"""Paths that must satisfy revocation lists."""
import ssl

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from material import Certificate, Signer, b64, moment, openssl_pin, signed_again
from paths_vectors import AT, HOST, ROOT, Case

SOURCE = "RFC 5280, sections 5 and 6.3; formats.md, section 4.1"
MIDDLE = Certificate("paths list intermediate", ROOT, authority=True, serial=2)
LEAF = Certificate("paths list leaf", MIDDLE, [HOST], serial=0x0A1B)
CHAIN = (LEAF, MIDDLE)
ADDRESS = "http://crl.example.com/1.crl"
BEFORE, AFTER = "2026-05-30T00:00:00Z", "2026-06-06T00:00:00Z"


def crl(issuer=MIDDLE, *revoked, begins=BEFORE, ends=AFTER, extensions=(), entry=(), signer=None, subject=None):
    """A revocation list in DER; `revoked` are certificates or serial numbers."""
    builder = (x509.CertificateRevocationListBuilder().issuer_name((subject or issuer).subject).last_update(moment(begins))
               .next_update(moment(ends)))
    for one in revoked:
        serial = one if isinstance(one, int) else x509.load_der_x509_certificate(one.der).serial_number
        listed = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(moment(BEFORE))
        for extension, critical in entry:
            listed = listed.add_extension(extension, critical=critical)
        builder = builder.add_revoked_certificate(listed.build())
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical=critical)
    made = builder.sign((signer or issuer).key, hashes.SHA256(), ecdsa_deterministic=True)
    return made.public_bytes(serialization.Encoding.DER)


def point(uri=ADDRESS, users=False, authorities=False, indirect=False, reasons=None, attributes=False):
    return x509.IssuingDistributionPoint(
        full_name=[x509.UniformResourceIdentifier(uri)] if uri else None, relative_name=None,
        only_contains_user_certs=users, only_contains_ca_certs=authorities, only_some_reasons=reasons, indirect_crl=indirect,
        only_contains_attribute_certs=attributes), True


def unknown(number=99, critical=True):
    return x509.UnrecognizedExtension(x509.ObjectIdentifier(f"1.3.6.1.4.1.99999.{number}"), b"\5\0"), critical


def case(name, why, lists, demand="if-known", path=None, refused=None, chain=CHAIN, at=AT, roots=(ROOT,)):
    answer = {"refused": refused} if refused else {"path": [openssl_pin(one.der) for one in path or (*chain, ROOT)]}
    return Case(f"paths/crl-{name}", why, SOURCE, {
        "do": "validate-path", "chain": [b64(one.der) for one in chain], "roots": [b64(one.der) for one in roots],
        "host": HOST, "at": at, "crls": [
            one if isinstance(one, dict) else b64(one.encode() if isinstance(one, str) else one) for one in lists],
        "revocation": demand}, answer)


def cases():
    yield from demands()
    yield from moments()
    yield from issuers()
    yield from scopes()
    yield from forms()


def demands():
    of_leaf, of_middle = crl(), crl(ROOT)
    for demand in ("if-known", "required"):
        yield case(f"revoked-{demand}", "the issuer took the certificate back", [crl(MIDDLE, LEAF), of_middle], demand,
                   refused="revoked")
        yield case(f"revoked-intermediate-{demand}", "the anchor's list has the intermediate", [of_leaf, crl(ROOT, MIDDLE)],
                   demand, refused="revoked")
        yield case(f"good-{demand}", "every certificate below the anchor is covered, and none is in a list", [
            of_leaf, of_middle], demand)
        yield case(f"anchor-{demand}", "nothing is asked about the anchor", [of_leaf, crl(ROOT, ROOT)], demand)
    for name, why, lists in [("nothing", "there is no list", []), ("leaf-alone", "the intermediate is not covered", [of_leaf]),
                             ("intermediate-alone", "the leaf is not covered", [of_middle])]:
        yield case(f"unknown-{name}-if-known", f"{why}: unknown passes", lists)
        yield case(f"unknown-{name}-required", f"{why}: unknown is refused", lists, "required", refused="revocation-unknown")
    yield case("revoked-before-unknown", "what is revoked is told first", [crl(ROOT, MIDDLE)], "required", refused="revoked")
    yield case("one-of-two-lists", "a serial number in one of two lists", [of_leaf, crl(MIDDLE, LEAF), of_middle],
               refused="revoked")
    yield case("another-serial", "another certificate was taken back", [crl(MIDDLE, 0x0A1C, 0x0A, 0x1B), of_middle], "required")


def moments():
    of_middle = crl(ROOT)
    for name, why, at, covers in [("begins-now", "a list covers from the second that it names", BEFORE, True),
                                  ("begins-later", "a second before it covers nothing", "2026-05-29T23:59:59Z", False),
                                  ("ends-now", "to the second that it names", AFTER, True),
                                  ("ended", "a second after it covers nothing", "2026-06-06T00:00:01Z", False)]:
        wide = crl(ROOT, begins="2026-01-01T00:00:00Z", ends="2026-12-01T00:00:00Z")
        yield case(name, why, [crl(), wide], "required", refused=None if covers else "revocation-unknown", at=at)
    # The fields are the version, the signature, the issuer, thisUpdate and nextUpdate.
    endless = signed_again(crl(begins="2026-05-25T00:00:00Z"), MIDDLE.key, lambda fields: fields[:4] + fields[5:])
    for name, why, at, covers in [("7-days", "a list that names no end covers for seven days", "2026-06-01T00:00:00Z", True),
                                  ("beyond-7-days", "and not a second longer", "2026-06-01T00:00:01Z", False)]:
        yield case(f"no-end-{name}", why, [endless, of_middle], "required", refused=None if covers else "revocation-unknown", at=at)
    yield case("ended-and-revoked", "a list that ended still revokes", [crl(MIDDLE, LEAF, ends="2026-05-31T00:00:00Z"), of_middle],
               refused="revoked")
    yield case("ended-and-a-newer-one", "a newer list covers what an older one does not any more", [
        crl(ends="2026-05-31T00:00:00Z"), crl(), of_middle], "required")


def issuers():
    of_middle = crl(ROOT)
    impostor = Certificate("paths list impostor", authority=True, subject=MIDDLE.name)
    for name, why, one in [
            ("impostor", "a CA of the same name and another key", crl(impostor, LEAF)),
            ("of-the-root", "the issuer's own issuer does not speak for it", crl(ROOT, LEAF, subject=MIDDLE)),
            ("forged", "signed by another key", crl(MIDDLE, LEAF, signer=Signer("forger", "ecdsa-p256-sha256"))),
            ("of-another-name", "the right key under another name", crl(MIDDLE, LEAF, subject=ROOT))]:
        yield case(f"{name}-revokes-nothing", f"{why}: nothing is revoked", [one])
        yield case(f"{name}-covers-nothing", f"{why}: nothing is covered", [one, of_middle], "required",
                   refused="revocation-unknown")
    mute = Certificate("paths list mute", ROOT, authority=True, lists=False)
    under = Certificate("paths list under mute", mute, [HOST])
    yield case("without-crlsign-revokes-nothing", "a key that may not sign lists", [crl(mute, under)], chain=(under, mute))
    yield case("without-crlsign-covers-nothing", "and covers nothing", [crl(mute), of_middle], "required",
               refused="revocation-unknown", chain=(under, mute))
    other_root = Certificate("paths list other root", authority=True, begins="2020-01-01T00:00:00Z", ends="2040-01-01T00:00:00Z")
    crossed = Certificate("paths list crossed", other_root, authority=True, key=MIDDLE.key, subject=MIDDLE.name, serial=7)
    yield case("another-path", "where one path is revoked another one is found", [crl(ROOT, MIDDLE)],
               path=(LEAF, crossed, other_root), chain=(LEAF, MIDDLE, crossed), roots=(ROOT, other_root))
    yield case("both-paths", "unless that is revoked, too", [crl(ROOT, MIDDLE), crl(other_root, crossed)], refused="revoked",
               chain=(LEAF, MIDDLE, crossed), roots=(ROOT, other_root))


def scopes():
    of_middle = crl(ROOT)

    def named(name, uri=ADDRESS, reasons=None, issuer=None):
        return Certificate(f"paths list {name}", MIDDLE, [HOST], serial=0x0A1B, extra=[(x509.CRLDistributionPoints([
            x509.DistributionPoint([x509.UniformResourceIdentifier(uri)], None, reasons, issuer)]), False)])
    here = named("named")
    some = frozenset([x509.ReasonFlags.key_compromise])
    other_issuer = [x509.DirectoryName(ROOT.subject)]
    for name, why, leaf, extension, covers in [
            ("point", "the distribution point that the certificate names", here, point(), True),
            ("point-of-another-address", "another one", here, point(ADDRESS + "x"), False),
            ("point-unnamed", "one that the certificate does not name", LEAF, point(), False),
            ("point-for-some-reasons", "the certificate names it for some reasons alone", named("reasons", reasons=some), point(),
             False),
            ("point-of-another-issuer", "the certificate names another issuer for it", named("issuer", issuer=other_issuer),
             point(), False),
            ("no-point", "a list without one covers certificates that name one", here, None, True),
            ("users", "a list for servers and users, of a server", LEAF, point(None, users=True), True),
            ("authorities", "a list for CAs, of a server", LEAF, point(None, authorities=True), False),
            ("attributes", "a list for attribute certificates", LEAF, point(None, attributes=True), False),
            ("some-reasons", "a list for some reasons", LEAF, point(None, reasons=some), False),
            ("indirect", "a list of several issuers", LEAF, point(None, indirect=True), False),
            ("delta", "a list of what changed since another one", LEAF, (x509.DeltaCRLIndicator(1), True), False),
            ("critical-extension", "a critical extension that is not known", LEAF, unknown(), False),
            ("extension", "one that is not critical", LEAF, unknown(critical=False), True),
            ("number", "the number of a list says nothing", LEAF, (x509.CRLNumber(5), False), True)]:
        chain, extensions = (leaf, MIDDLE), [extension] if extension else []
        yield case(f"scope-{name}-revoked", f"{why}: {'it counts' if covers else 'nothing is revoked'}", [
            crl(MIDDLE, leaf, extensions=extensions)], refused="revoked" if covers else None, chain=chain)
        yield case(f"scope-{name}-required", f"{why}: {'it counts' if covers else 'nothing is covered'}", [
            crl(extensions=extensions), of_middle], "required", refused=None if covers else "revocation-unknown", chain=chain)
    yield case("scope-users-of-a-ca", "a list for servers and users, of a CA", [crl(), crl(ROOT, extensions=[
        point(None, users=True)])], "required", refused="revocation-unknown")
    yield case("scope-authorities-of-a-ca", "a list for CAs, of a CA", [crl(), crl(ROOT, extensions=[
        point(None, authorities=True)])], "required")
    for name, why, extension, covers in [
            ("reason", "an entry with a reason", (x509.CRLReason(x509.ReasonFlags.superseded), False), True),
            ("critical-extension", "an entry with a critical extension that is not known: the whole list counts for nothing",
             unknown(), False),
            ("of-another-issuer", "an entry of another issuer", (x509.CertificateIssuer(other_issuer), True), False)]:
        yield case(f"entry-{name}", why, [crl(MIDDLE, LEAF, entry=[extension])], refused="revoked" if covers else None)


def forms():
    good = crl(MIDDLE, LEAF)
    for name, why, der in [("cut-off", "a list that is cut off", good[:-1]), ("and-a-byte", "something behind it", good + b"\0"),
                           ("certificate", "a certificate in its place", LEAF.der), ("nothing", "no byte", b"")]:
        yield case(f"unreadable-{name}", f"{why}: it is refused, and not passed over", [der], refused="malformed")
    yield from texts()
    long = Certificate("paths list twenty octets", MIDDLE, [HOST], serial=int.from_bytes(b"\x7f" * 20, "big"))
    yield case("serial-20-octets", "the longest serial number", [crl(MIDDLE, long)], refused="revoked", chain=(long, MIDDLE))
    zero = Certificate("paths list leading zero", MIDDLE, [HOST], serial=0xFF00)
    yield case("serial-leading-zero", "a serial number behind a zero", [crl(MIDDLE, zero)], refused="revoked",
               chain=(zero, MIDDLE))
    many = crl(MIDDLE, *(number for number in range(0x100, 0x300)), LEAF)
    yield case("many", "one among many", [many], refused="revoked")
    yield case("not-among-many", "none among many", [crl(MIDDLE, *range(0x100, 0x300)), crl(ROOT)], "required")


def pem(der):
    return ssl.DER_cert_to_PEM_cert(der).replace("CERTIFICATE", "X509 CRL")


def texts():
    """Lists in PEM."""
    both = pem(crl(MIDDLE, LEAF)) + pem(crl(ROOT))
    yield case("pem", "two lists in one text", ["a title\n" + both], "required", refused="revoked")
    yield case("pem-none", "a text without a list: it is refused, and not passed over", ["a title\n"], refused="malformed")
    yield case("pem-cut-off", "a text that ends within a list", [both[:-10]], refused="malformed")
    # No signature of the others is asked for: they are of a CA that is in no path.
    other = pem(crl(Certificate("paths list another", authority=True)))
    for count, refused in ((1_024, "revoked"), (1_025, "malformed")):
        yield case(f"limit-lists-{count}", "1,024 revocation lists in all", [{"$base64": {"$join": [
            pem(crl(MIDDLE, LEAF)), {"$repeat": other, "times": count - 1}]}}], refused=refused)
