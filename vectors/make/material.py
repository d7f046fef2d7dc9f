# SPDX-License-Identifier: CC0-1.0
"""Keys, certificates, envelopes and cases. All of it follows from names: run again, the files are the same bytes.

Signatures of ML-DSA are drawn, so those are kept in signatures.json once they were made."""
import base64
import datetime
import functools
import hashlib
import json
import pathlib
import re
import subprocess
import sys

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, mldsa, utils

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
import recipes  # noqa: E402

HERE = pathlib.Path(__file__).parent
_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_KEPT = HERE / "signatures.json"
_kept = json.loads(_KEPT.read_text()) if _KEPT.exists() else {}


def b64(data):
    return base64.b64encode(data).decode()


def digest(data):
    return hashlib.sha256(data).hexdigest()


class Case(dict):
    """One case: what is asked, what the answer is, why it is asked, and where it stands."""

    def __init__(self, name, why, source, question, answer):
        super().__init__(id=name, why=why, source=source, question=question, answer=answer)


class Signer:
    """A key that signs metadata."""

    def __init__(self, name, algorithm="ed25519"):
        seed = hashlib.sha256(b"tumbler vectors " + name.encode()).digest()
        self.name, self.algorithm = name, algorithm
        if algorithm == "ecdsa-p256-sha256":
            self.key = ec.derive_private_key(int.from_bytes(seed, "big") % (_ORDER - 1) + 1, ec.SECP256R1())
        elif algorithm == "ml-dsa-65":
            self.key = mldsa.MLDSA65PrivateKey.from_seed_bytes(seed)
        else:
            self.key = ed25519.Ed25519PrivateKey.from_private_bytes(seed)
        self.der = self.key.public_key().public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        self.id = digest(self.der)

    def sign(self, message):
        if self.algorithm == "ecdsa-p256-sha256":
            r, s = utils.decode_dss_signature(
                self.key.sign(message, ec.ECDSA(hashes.SHA256(), deterministic_signing=True)))
            return r.to_bytes(32, "big") + s.to_bytes(32, "big")
        if self.algorithm == "ml-dsa-65":
            name = f"{self.name} {digest(message)}"
            if name not in _kept:
                _kept[name] = b64(self.key.sign(message))
                _KEPT.write_text(json.dumps(_kept, indent=1, sort_keys=True) + "\n")
            return base64.b64decode(_kept[name])
        return self.key.sign(message)

    @property
    def entry(self):
        return {"algorithm": self.algorithm, "publicKey": b64(self.der)}


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def pae(payload_type, payload):
    return b"DSSEv1 %d %s %d %s" % (len(payload_type), payload_type.encode(), len(payload), payload)


def envelope(payload, signers, kind="pins", payload_type=None, hints=None, extra=()):
    """An envelope over a payload: a value, a text or a recipe. Extra signatures are (keyid, bytes)."""
    payload_type = payload_type or f"application/vnd.tumbler.{kind}+json"
    text = payload if isinstance(payload, str) or "$join" in payload else compact(payload)
    data = recipes.expand(text).encode()
    signatures = [{"keyid": (hints or {}).get(one.name, one.id), "sig": b64(one.sign(pae(payload_type, data)))}
                  for one in signers]
    signatures += [{"keyid": keyid, "sig": b64(signature)} for keyid, signature in extra]
    if isinstance(text, str):
        return compact({"payloadType": payload_type, "payload": b64(data), "signatures": signatures})
    return {"$join": ['{"payloadType":' + compact(payload_type) + ',"payload":"', {"$base64": text}, '","signatures":'
                      + compact(signatures) + "}"]}


def element(tag, content):
    """A DER element: its length in the shortest form."""
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    size = len(content).to_bytes((len(content).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(size)]) + size + content


def elements(data):
    """The DER elements that stand behind one another in some bytes: tag and content."""
    found, at = [], 0
    while at < len(data):
        tag, length, at = data[at], data[at + 1], at + 2
        if length >= 0x80:
            octets = length & 0x7F
            length, at = int.from_bytes(data[at:at + octets], "big"), at + octets
        found.append((tag, data[at:at + length]))
        at += length
    return found


def with_serial(certificate, octets):
    """The certificate with other content octets of its serial number. Its signature does not hold any more."""
    tbs, *rest = elements(elements(certificate)[0][1])
    fields = elements(tbs[1])
    fields[1] = (2, octets)
    return element(0x30, b"".join(element(*part) for part in [
        (0x30, b"".join(element(*field) for field in fields)), *rest]))


def signed_again(signed, key, change):
    """A certificate or a revocation list whose signed fields `change` gave other ones, with a signature of a P-256 key."""
    tbs, algorithm, _ = elements(elements(signed)[0][1])
    data = element(0x30, b"".join(element(*field) for field in change(elements(tbs[1]))))
    signature = key.sign(data, ec.ECDSA(hashes.SHA256(), deterministic_signing=True))
    return element(0x30, data + element(*algorithm) + element(3, b"\0" + signature))


def pin(data, prefix="sha256/"):
    return prefix + b64(hashlib.sha256(data).digest())


@functools.lru_cache(maxsize=None)
def openssl_pin(certificate):
    """The pin as openssl says it (formats.md, section 1)."""
    script = ("openssl x509 -inform DER -pubkey -noout | openssl pkey -pubin -outform DER"
              " | openssl dgst -sha256 -binary | base64")
    done = subprocess.run(["bash", "-c", "set -o pipefail; " + script], input=certificate, capture_output=True, check=True)
    return "sha256/" + done.stdout.decode().strip()


def moment(text):
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)


class Certificate:
    """A certificate with its key: P-256, signed with RFC 6979's nonces."""

    def __init__(self, name, issuer=None, hosts=(), authority=False, key=None, begins="2026-01-01T00:00:00Z",
                 ends="2027-01-01T00:00:00Z", length=None, constraints=None, usage=True, purpose=True, extra=(),
                 subject=None, alternative=True, signer=None, lists=True, serial=None):
        self.name = name
        self.key = key or Signer(f"certificate {name}", "ecdsa-p256-sha256").key
        issuer = issuer or self
        self.subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, subject or name)])
        public = self.key.public_key()
        builder = (x509.CertificateBuilder().subject_name(self.subject).issuer_name(issuer.subject).public_key(public)
                   .serial_number(serial or int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big") | 1)
                   .not_valid_before(moment(begins)).not_valid_after(moment(ends)))
        if authority or length is not None:
            builder = builder.add_extension(x509.BasicConstraints(authority, length), critical=True)
        if authority:
            builder = builder.add_extension(x509.KeyUsage(
                digital_signature=not usage, key_cert_sign=usage, crl_sign=usage and lists, content_commitment=False,
                key_encipherment=False, data_encipherment=False, key_agreement=False, encipher_only=False,
                decipher_only=False), critical=True)
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
        if issuer is not self:
            builder = builder.add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(issuer.key.public_key()), critical=False)
        if hosts and alternative:
            builder = builder.add_extension(x509.SubjectAlternativeName(list(map(self._general, hosts))), critical=False)
        if not authority and purpose:
            wanted = x509.ExtendedKeyUsageOID.SERVER_AUTH if purpose is True else purpose
            builder = builder.add_extension(x509.ExtendedKeyUsage([wanted]), critical=False)
        if constraints:
            builder = builder.add_extension(constraints, critical=True)
        for extension, critical in extra:
            builder = builder.add_extension(extension, critical=critical)
        self.der = builder.sign(signer or issuer.key, hashes.SHA256(), ecdsa_deterministic=True).public_bytes(
            serialization.Encoding.DER)
        self.spki = public.public_bytes(
            serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
        self.pin, self.whole = pin(self.spki), pin(self.der, "cert-sha256/")

    @staticmethod
    def _general(host):
        import ipaddress
        try:
            return x509.IPAddress(ipaddress.ip_address(host))
        except ValueError:
            return x509.DNSName(host)

    @property
    def text(self):
        return b64(self.der)


_RUN = re.compile(r"(?:A{64}\n){8,}|A{400,}")


def squeeze(value):
    """The value with long runs of one letter, or of one line, as recipes."""
    if isinstance(value, list):
        return [squeeze(part) for part in value]
    if isinstance(value, dict):
        return value if any(name.startswith("$") for name in value) else {name: squeeze(part) for name, part in value.items()}
    if not isinstance(value, str) or not _RUN.search(value):
        return value
    parts, end = [], 0
    for run in _RUN.finditer(value):
        unit = "A" * 64 + "\n" if "\n" in run.group() else "A"
        parts += [value[end:run.start()], {"$repeat": unit, "times": len(run.group()) // len(unit)}]
        end = run.end()
    return {"$join": [*parts, value[end:]]}


def write(name, about, cases):
    """Writes a file of vectors, one case a line, so that what changes is seen."""
    ids = [case["id"] for case in cases]
    assert len(set(ids)) == len(ids), [one for one in ids if ids.count(one) > 1]
    lines = ",\n".join(json.dumps(squeeze(case), ensure_ascii=True) for case in cases)
    head = json.dumps({"vectors": name, "schema": 1, "license": "CC0-1.0", "about": about})
    (HERE.parent / f"{name}.json").write_text(head[:-1] + ', "cases": [\n' + lines + "\n]}\n")
    print(f"{name}: {len(cases)} cases")
