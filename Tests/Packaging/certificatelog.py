# SPDX-License-Identifier: Apache-2.0
"""A Certificate Transparency log on loopback, as RFC 6962 has it: real signatures, tree heads and proofs; and an authority
that issues certificates and precertificates for it. For the test `sightings` beside this file."""

import base64
import datetime
import hashlib
import json
import struct
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


def b64(data):
    return base64.b64encode(data).decode()


def der(certificate):
    return certificate.public_bytes(serialization.Encoding.DER)


def spki(key):
    return key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)


def vector24(data):
    return struct.pack(">I", len(data))[1:] + data


class Authority:
    """Issues what a log takes."""

    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Loopback CA")])
        self.start = datetime.datetime.now(datetime.timezone.utc).replace(microsecond=0)
        self.certificate = self.build(self.key, self.name, [(x509.BasicConstraints(True, None), True)], 1)

    def build(self, key, subject, extensions, serial):
        builder = (
            x509.CertificateBuilder().subject_name(subject).issuer_name(self.name).public_key(key.public_key())
            .serial_number(serial).not_valid_before(self.start)
            .not_valid_after(self.start + datetime.timedelta(days=90)))  # fmt: skip
        for extension, critical in extensions:
            builder = builder.add_extension(extension, critical)
        return builder.sign(self.key, hashes.SHA256())

    def issue(self, name, key=None, serial=7):
        """A precertificate, and the certificate of it with a timestamp of some log."""
        key = key or ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        names = (x509.SubjectAlternativeName([x509.DNSName(name)]), False)
        timestamp = bytes(1) + bytes(32) + bytes(8) + bytes(2) + b"\4\3" + b"\0\2" + b"\x30\0"
        entry = struct.pack(">H", len(timestamp)) + timestamp
        scts = struct.pack(">H", len(entry)) + entry
        extension = x509.UnrecognizedExtension(
            x509.ObjectIdentifier("1.3.6.1.4.1.11129.2.4.2"), bytes([4, len(scts)]) + scts)  # fmt: skip
        precertificate = self.build(key, subject, [names, (x509.PrecertPoison(), True)], serial)
        return precertificate, self.build(key, subject, [names, (extension, False)], serial)


class Tree:
    """A Merkle tree (RFC 6962, section 2.1)."""

    def __init__(self):
        self.leaves = []

    def root(self, first=0, last=None):
        last = len(self.leaves) if last is None else last
        if last == first:
            return hashlib.sha256(b"").digest()
        if last - first == 1:
            return hashlib.sha256(b"\0" + self.leaves[first]).digest()
        middle = first + self.split(last - first)
        return hashlib.sha256(b"\1" + self.root(first, middle) + self.root(middle, last)).digest()

    @staticmethod
    def split(count):
        return 1 << ((count - 1).bit_length() - 1)

    def consistency(self, old, new):
        """Section 2.1.2."""

        def proof(old, first, last, is_whole):
            if old == last - first:
                return [] if is_whole else [self.root(first, last)]
            middle = self.split(last - first)
            if old <= middle:
                return proof(old, first, first + middle, is_whole) + [self.root(first + middle, last)]
            return proof(old - middle, first + middle, last, False) + [self.root(first, first + middle)]

        return proof(old, 0, new, True) if 0 < old < new else []


class Log:
    """The log. `with Log() as log`; `log.add(…)` takes a certificate at once."""

    def __init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.tree, self.entries, self.asked = Tree(), [], []
        self.lock = threading.Lock()

    def __enter__(self):
        log = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                address = urllib.parse.urlsplit(self.path)
                query = {name: int(text) for name, text in urllib.parse.parse_qsl(address.query) if text.isdigit()}
                with log.lock:
                    log.asked.append(address.path)
                    answer = log.answer(address.path, query)
                body = json.dumps(answer if answer is not None else {"error_message": "no"}).encode()
                self.send_response(404 if answer is None else 200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()

    def add(self, certificate, issuer):
        """Takes a certificate, or a precertificate, whose TBSCertificate without the poison another reader makes."""
        moment = int(time.time() * 1000)
        is_precertificate = any(isinstance(one.value, x509.PrecertPoison) for one in certificate.extensions)
        if is_precertificate:
            # The last extension of Authority.issue: cut off, with the lengths around it.
            kept = without_poison(certificate)
            entry = b"\0\1" + hashlib.sha256(spki(issuer.public_key())).digest() + vector24(kept)
            extra = vector24(der(certificate)) + vector24(vector24(der(issuer)))
        else:
            entry, extra = b"\0\0" + vector24(der(certificate)), vector24(vector24(der(issuer)))
        leaf = b"\0\0" + struct.pack(">Q", moment) + entry + b"\0\0"
        with self.lock:
            self.tree.leaves.append(leaf)
            self.entries.append({"leaf_input": b64(leaf), "extra_data": b64(extra)})
        return moment

    def answer(self, path, query):
        size = len(self.entries)
        if path == "/ct/v1/get-sth":
            return self.head()
        if path == "/ct/v1/get-sth-consistency" and 0 < query.get("first", 0) <= query.get("second", 0) <= size:
            return {"consistency": [b64(one) for one in self.tree.consistency(query["first"], query["second"])]}
        if path == "/ct/v1/get-entries" and 0 <= query.get("start", -1) < size and query.get("end", -1) >= query["start"]:
            return {"entries": self.entries[query["start"] : query["end"] + 1]}
        return {"certificates": []} if path == "/ct/v1/get-roots" else None

    def head(self):
        moment, root = int(time.time() * 1000), self.tree.root()
        signed = b"\0\1" + struct.pack(">QQ", moment, len(self.entries)) + root
        signature = self.key.sign(signed, ec.ECDSA(hashes.SHA256()))
        return {
            "tree_size": len(self.entries), "timestamp": moment, "sha256_root_hash": b64(root),
            "tree_head_signature": b64(b"\4\3" + struct.pack(">H", len(signature)) + signature)}  # fmt: skip

    def list(self):
        """A log list (version 3) with this log alone."""
        key = spki(self.key.public_key())
        return {
            "version": "1.0", "log_list_timestamp": "2026-11-01T00:00:00Z",
            "operators": [{"name": "Loopback", "email": ["nobody@example.com"], "logs": [{
                "description": "Loopback log", "log_id": b64(hashlib.sha256(key).digest()), "key": b64(key),
                "url": self.address, "mmd": 86400,
                "state": {"usable": {"timestamp": "2026-01-01T00:00:00Z"}}}]}]}  # fmt: skip


def without_poison(certificate):
    """The TBSCertificate of a precertificate whose last extension is the poison."""
    poison = bytes.fromhex("3013060a2b06010401d6790204030101ff04020500")

    def element(data):
        length, start = data[1], 2
        if length >= 0x80:
            start += length - 0x80
            length = int.from_bytes(data[2:start], "big")
        return data[:1], data[start : start + length], data[start + length :]

    def written(tag, contents):
        count = len(contents)
        octets = b"" if count < 0x80 else count.to_bytes((count.bit_length() + 7) // 8, "big")
        return tag + (bytes([0x80 | len(octets)]) + octets if octets else bytes([count])) + contents

    tag, contents, _ = element(certificate.tbs_certificate_bytes)
    fields = []
    while contents:
        one, value, contents = element(contents)
        fields.append((one, value))
    _, extensions, _ = element(fields[-1][1])
    if not extensions.endswith(poison):
        raise ValueError("the poison is not the last extension")
    fields[-1] = (fields[-1][0], written(b"\x30", extensions[: -len(poison)]))
    return written(tag, b"".join(written(one, value) for one, value in fields))
