# SPDX-License-Identifier: CC0-1.0
"""Logs that sign, log lists, and certificates with timestamps."""
import hashlib

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

from material import Certificate, Signer, b64, compact, element, moment

TIMESTAMPS = x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2")
AT, SIGNED = "2026-01-10T00:00:00Z", "2026-01-05T00:00:00Z"
ROOT = Certificate("transparency root", authority=True)
MIDDLE = Certificate("transparency intermediate", ROOT, authority=True)


def _is_prime(number):
    """Miller and Rabin's test, with the first sixteen odd primes and 2 as bases."""
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59):
        if number % base == 0:
            return False
        power = pow(base, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


def _prime(name, bits):
    """The first prime from a place that a name gives."""
    data = b"".join(hashlib.sha256(b"%s %d" % (name.encode(), part)).digest() for part in range(bits // 256))
    number = int.from_bytes(data, "big") | 3 << (bits - 2) | 1
    while not (number % 65_537 != 1 and _is_prime(number)):
        number += 2
    return number


def rsa_key(name, bits):
    """An RSA key that follows from a name."""
    p, q = _prime(f"{name} p", (bits + 1) // 2), _prime(f"{name} q", bits // 2)
    d = pow(65_537, -1, (p - 1) * (q - 1))
    return rsa.RSAPrivateNumbers(
        p, q, d, rsa.rsa_crt_dmp1(d, p), rsa.rsa_crt_dmq1(d, q), rsa.rsa_crt_iqmp(p, q),
        rsa.RSAPublicNumbers(65_537, p * q)).private_key()


class Log:
    """A log: its key, and what a list says of it. `state` is None for a log without one."""

    def __init__(self, name, operator="Alpha", tiled=False, state="usable", since="2025-01-01T00:00:00Z", interval=None,
                 previous=None, key=None, form=serialization.PublicFormat.SubjectPublicKeyInfo, listed=None):
        self.operator, self.tiled = operator, tiled
        self.key = key or Signer(f"log {name}", "ecdsa-p256-sha256").key
        self.der = listed or self.key.public_key().public_bytes(serialization.Encoding.DER, form)
        self.id = hashlib.sha256(self.der).digest()
        self.entry = {"description": name, "log_id": b64(self.id), "key": b64(self.der)}
        if state:
            self.entry["state"] = {state: {"timestamp": since}}
        if interval:
            self.entry["temporal_interval"] = dict(zip(("start_inclusive", "end_exclusive"), interval))
        if previous:
            self.entry["previous_operators"] = [{"name": one, "end_time": end} for one, end in previous]

    def sign(self, message):
        if isinstance(self.key, rsa.RSAPrivateKey):
            return self.key.sign(message, padding.PKCS1v15(), hashes.SHA256())
        return self.key.sign(message, ec.ECDSA(hashes.SHA256(), deterministic_signing=True))


def log_list(*logs, timestamp="2026-01-08T12:00:00Z", members=None):
    """The text of a log list."""
    operators = {}
    for log in logs:
        one = operators.setdefault(log.operator, {"name": log.operator, "logs": [], "tiled_logs": []})
        one["tiled_logs" if log.tiled else "logs"].append(log.entry)
    value = {"version": "1.2"} | ({"log_list_timestamp": timestamp} if timestamp else {})
    return compact(value | {"operators": list(operators.values())} | (members or {}))


def vector(data):
    return len(data).to_bytes(2, "big") + data


class Stamp:
    """A timestamp that a certificate is given, and what is expected of it."""

    def __init__(self, log, status="valid", at=SIGNED, milliseconds=0, extensions=bytes.fromhex("0000050000000007"),
                 algorithm=None, signer=None, operator=None, change=None, over=None):
        self.log, self.milliseconds = log, int(moment(at).timestamp()) * 1_000 + milliseconds
        self.extensions, self.signer, self.change, self.over = extensions, signer or log, change, over
        self.algorithm = algorithm or (b"\4\1" if isinstance(log.key, rsa.RSAPrivateKey) else b"\4\3")
        self.expected = {"log": b64(log.id), "operator": operator or log.operator, "timestamp": at, "status": status}
        if status == "unknown-log":
            del self.expected["operator"]
        if status == "malformed":
            self.expected = {"status": status}

    def data(self, entry):
        """The bytes of the timestamp over an entry; `change` makes others of them."""
        entry = self.over or entry
        time = self.milliseconds.to_bytes(8, "big")
        signature = self.signer.sign(b"\0\0" + time + entry + vector(self.extensions))
        data = b"\0" + self.log.id + time + vector(self.extensions) + self.algorithm + vector(signature)
        return self.change(data) if self.change else data


class Other:
    """Bytes in the place of a timestamp: of another version, or malformed."""

    def __init__(self, data, expected=None):
        self.bytes, self.expected = data, expected

    def data(self, _):
        return self.bytes


def entry(certificate, issuer):
    """What logs sign of a certificate without timestamps."""
    tbs = x509.load_der_x509_certificate(certificate).tbs_certificate_bytes
    return b"\0\1" + hashlib.sha256(issuer.spki).digest() + len(tbs).to_bytes(3, "big") + tbs


def extension(listed, critical=False):
    """The extension with a list of timestamps, its bytes given; `listed` is the SignedCertificateTimestampList."""
    return x509.UnrecognizedExtension(TIMESTAMPS, element(4, listed)), critical


def logged(name, stamps, issuer=MIDDLE, begins="2026-01-01T00:00:00Z", ends="2026-03-31T23:59:59Z", listed=None, before=(),
           after=(), critical=False, hosts=("api.example.com",)):
    """A certificate of 90 days, unless it is said otherwise, with timestamps; `listed` takes the place of their list."""
    form = {"issuer": issuer, "hosts": list(hosts), "begins": begins, "ends": ends}
    without = Certificate(name, extra=[*before, *after], **form)
    if listed is None:
        signed = entry(without.der, issuer)
        listed = vector(b"".join(vector(one.data(signed)) for one in stamps))
    return Certificate(name, extra=[*before, extension(listed, critical), *after], **form)
