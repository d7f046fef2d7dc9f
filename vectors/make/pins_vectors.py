# SPDX-License-Identifier: CC0-1.0
"""pins.json: the pin of a certificate, and how pins are written."""
import base64
import subprocess
import tempfile

from cryptography import x509

from material import Case, Certificate, b64, openssl_pin, pin, write

SOURCE = "formats.md, section 1"
KINDS = {
    "rsa-2048": ["rsa", "-pkeyopt", "rsa_keygen_bits:2048"], "rsa-4096": ["rsa", "-pkeyopt", "rsa_keygen_bits:4096"],
    "rsa-1024": ["rsa", "-pkeyopt", "rsa_keygen_bits:1024"], "rsa-pss": ["rsa-pss", "-pkeyopt", "rsa_keygen_bits:2048"],
    "p256": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"], "p384": ["ec", "-pkeyopt", "ec_paramgen_curve:P-384"],
    "p521": ["ec", "-pkeyopt", "ec_paramgen_curve:P-521"], "secp256k1": ["ec", "-pkeyopt", "ec_paramgen_curve:secp256k1"],
    "brainpool": ["ec", "-pkeyopt", "ec_paramgen_curve:brainpoolP256r1"],
    "p256-explicit": ["ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-pkeyopt", "ec_param_enc:explicit"],
    "ed25519": ["ed25519"], "ed448": ["ed448"],
}


def made_once(kept):
    """A self-signed certificate of each kind of key, by openssl. Made once: their keys are drawn."""
    for name, arguments in KINDS.items():
        if name not in kept:
            with tempfile.TemporaryDirectory() as folder:
                subprocess.run(["openssl", "genpkey", "-out", f"{folder}/key", "-algorithm", *arguments], check=True,
                               capture_output=True)
                kept[name] = b64(subprocess.run(
                    ["openssl", "req", "-x509", "-new", "-key", f"{folder}/key", "-subj", f"/CN={name}", "-days", "3650",
                     "-outform", "DER"], check=True, capture_output=True).stdout)
    return kept


def certificate_case(name, why, der, source=SOURCE):
    return Case(f"pins/{name}", why, source, {"do": "pin-of-certificate", "certificate": b64(der)},
                {"pin": openssl_pin(der), "certificatePin": pin(der, "cert-sha256/")})


def unreadable(name, why, der):
    return Case(f"pins/{name}", why, SOURCE, {"do": "pin-of-certificate", "certificate": b64(der)},
                {"refused": "unreadable"})


def written(name, why, text, form, canonical, source=SOURCE):
    answer = {"pin": canonical} if canonical else {"refused": "no-pin"}
    return Case(f"pins/{name}", why, source, {"do": "read-pin", "form": form, "text": text}, answer)


def padded(size):
    """A certificate with an extension of so many zeros."""
    extension = x509.UnrecognizedExtension(x509.ObjectIdentifier("1.3.6.1.4.1.99999.2"), bytes(size))
    return Certificate("pins padded", extra=[(extension, False)])


def cases(kept):
    for name, text in made_once(kept).items():
        yield certificate_case(f"key-{name}", "the key is hashed as it stands, whether or not a library can parse it",
                               base64.b64decode(text))
    leaf = Certificate("pins leaf", hosts=["api.example.com"])
    yield certificate_case("version-3", "a certificate with extensions", leaf.der)
    renewed = Certificate("pins leaf renewed", hosts=["api.example.com"], key=leaf.key)
    yield certificate_case("renewed-with-the-same-key", "a renewal with the same key has the same pin", renewed.der)
    yield unreadable("empty", "no bytes", b"")
    yield unreadable("cut-off", "the last byte is missing", leaf.der[:-1])
    yield unreadable("something-follows", "a byte follows the certificate", leaf.der + b"\0")
    yield unreadable("a-key-alone", "a SubjectPublicKeyInfo is no certificate", leaf.spki)
    long_length = b"\x30\x83\x00" + leaf.der[2:4] + leaf.der[4:]
    yield unreadable("length-not-the-shortest", "a length with a leading zero is not DER", long_length)
    yield unreadable("length-indefinite", "an indefinite length is BER", b"\x30\x80" + leaf.der[4:] + b"\0\0")
    for size in (65_536, 65_537):
        start = size - len(padded(60_000).der) + 60_000
        one = next(der for filled in range(start - 4, start + 4) if len(der := padded(filled).der) == size)
        yield (certificate_case if size == 65_536 else unreadable)(f"size-{size}", "65,536 bytes of a certificate", one)
    digest = bytes(range(32))
    plain = b64(digest)
    canonical = "sha256/" + plain
    yield written("list-canonical", "the one form of lists", canonical, "list", canonical)
    yield written("list-certificate", "the pin of a whole certificate", "cert-sha256/" + plain, "list",
                  "cert-sha256/" + plain)
    for name, text, why in [
            ("bare", plain, "bare base64"), ("rfc7469", f'pin-sha256="{plain}"', "RFC 7469's directive"),
            ("curl", "sha256//" + plain, "curl's --pinnedpubkey")]:
        yield written(f"list-{name}", f"{why} is no form of lists", text, "list", None)
        yield written(f"typed-{name}", f"{why} is read on command lines", text, "any", canonical)
    yield written("typed-canonical", "the form of lists is read everywhere", canonical, "any", canonical)
    for form in ("list", "any"):
        yield written(f"{form}-31-bytes", "one byte short of a digest", "sha256/" + b64(digest[:31]), form, None)
        yield written(f"{form}-33-bytes", "one byte beyond a digest", "sha256/" + b64(digest + b"\0"), form, None)
        yield written(f"{form}-without-padding", "base64 has its padding", canonical.rstrip("="), form, None)
        yield written(f"{form}-url-alphabet", "base64 has the standard alphabet",
                      "sha256/" + base64.urlsafe_b64encode(b"\xfb" * 32).decode(), form, None)
        yield written(f"{form}-white-space", "base64 has no white space in it",
                      canonical[:20] + "\n" + canonical[20:], form, None)
        yield written(f"{form}-loose-bits", "the bits that no byte has are zero: one digest has one spelling",
                      canonical[:-2] + chr(ord(canonical[-2]) + 1) + "=", form, None)
        yield written(f"{form}-sha1", "an algorithm that nobody knows is no pin", "sha1/" + b64(digest[:20]), form, None)
        yield written(f"{form}-empty", "no text", "", form, None)
    yield written("list-upper-case", "the prefix is in lower case", "SHA256/" + plain, "list", None)


def main(kept):
    write("pins", "The pin of a certificate, and how pins are written.", list(cases(kept)))
