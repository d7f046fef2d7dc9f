# SPDX-License-Identifier: CC0-1.0
"""Pins (formats.md, section 1): SHA-256 of the SubjectPublicKeyInfo as it stands in a certificate."""
import base64
import hashlib
import re

from strictjson import Malformed, unbase64

MAXIMUM_CERTIFICATE = 65_536


class Unreadable(Exception):
    """Bytes in which no SubjectPublicKeyInfo can be found."""


def element(data, start, end):
    """The tag of the DER element at `start`, where its content begins and where it ends."""
    if end - start < 2:
        raise Unreadable("cut off")
    tag, first = data[start], data[start + 1]
    if tag & 0x1F == 0x1F:
        raise Unreadable("a long tag")
    content, length = start + 2, first
    if first >= 0x80:
        count = first & 0x7F
        if count == 0 or count > 4 or end - content < count:
            raise Unreadable("a length that is not DER")
        length = int.from_bytes(data[content:content + count], "big")
        if length < 0x80 or data[content] == 0:
            raise Unreadable("a length that is not the shortest")
        content += count
    if length > end - content:
        raise Unreadable("cut off")
    return tag, content, content + length


def fields(certificate):
    """The parts of a certificate that are looked at, each as its bytes; `extensions` is whatever follows the key."""
    if len(certificate) > MAXIMUM_CERTIFICATE:
        raise Unreadable("too large")
    tag, outer, end = element(certificate, 0, len(certificate))
    if tag != 0x30 or end != len(certificate):
        raise Unreadable("not one SEQUENCE")
    tag, at, inner_end = element(certificate, outer, end)
    if tag != 0x30:
        raise Unreadable("no TBSCertificate")
    if certificate[at:at + 1] == b"\xa0":
        at = element(certificate, at, inner_end)[2]
    found = {}
    for name, wanted in (("serial", 2), ("signature", 0x30), ("issuer", 0x30), ("validity", 0x30), ("subject", 0x30),
                         ("key", 0x30)):
        tag, _, after = element(certificate, at, inner_end)
        if tag != wanted:
            raise Unreadable(f"no {name}")
        found[name] = certificate[at:after]
        at = after
    found["extensions"] = certificate[at:inner_end]
    at = inner_end
    for wanted in (0x30, 0x03):
        tag, _, at = element(certificate, at, end)
        if tag != wanted:
            raise Unreadable("no signature")
    if at != end:
        raise Unreadable("something follows")
    return found


def of_certificate(certificate):
    """The pin of a certificate's key."""
    return written(fields(certificate)["key"])


def certificate_pin(certificate):
    """The pin of a certificate as a whole."""
    return written(certificate, "cert-sha256/")


def written(data, prefix="sha256/"):
    """The pin of bytes, in its written form."""
    return prefix + base64.b64encode(hashlib.sha256(data).digest()).decode()


def listed(text):
    """A pin of a signed list: its text, or None for a form that matches nothing."""
    for prefix in ("sha256/", "cert-sha256/"):
        if text.startswith(prefix):
            if len(unbase64(text[len(prefix):])) != 32:
                raise Malformed("a pin that is not 32 bytes")
            return text
    return None


def typed(text):
    """A pin as people and other tools write it."""
    quoted = re.fullmatch(r'pin-sha256="([^"]*)"', text)
    for prefix in ("sha256//", "sha256/", "cert-sha256/"):
        if text.startswith(prefix):
            kind, rest = ("cert-sha256/" if prefix[0] == "c" else "sha256/"), text[len(prefix):]
            break
    else:
        kind, rest = "sha256/", quoted.group(1) if quoted else text
    if len(unbase64(rest)) != 32:
        raise Malformed("a pin that is not 32 bytes")
    return kind + rest
