# SPDX-License-Identifier: CC0-1.0
"""Path validation (formats.md, section 4.1), by the verifier of `cryptography` (its own, in Rust)."""
import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import verification

import hosts
import pins

# Octets, without the zero that keeps it positive: the verifier lets 21 pass, and counts keys of RSA in whole bytes.
MAXIMUM_SERIAL_NUMBER, MINIMUM_RSA_BITS = 20, 2_048


def _validated(leaf, others, roots, subject, at, lists):
    """The first path that holds and that no revocation list objects to; or the reason of the refusal."""
    try:
        store = verification.Store(roots)
        verifier = verification.PolicyBuilder().store(store).time(at.replace(tzinfo=None)).build_server_verifier(subject)
        path = verifier.verify(leaf, others)
    except (verification.VerificationError, ValueError):
        return "chain-invalid"
    if any(one.serial_number.bit_length() > 8 * MAXIMUM_SERIAL_NUMBER for one in path[:-1]) or any(
            isinstance(key, rsa.RSAPublicKey) and (key.key_size < MINIMUM_RSA_BITS or key.key_size % 8)
            for key in (one.public_key() for one in path)):
        return "chain-invalid"
    objection = lists and lists.objection(path, at)
    if not objection:
        return path
    # The verifier gives one path: another one lacks one of its certificates.
    for left_out in path[1:]:
        answer = _validated(leaf, [one for one in others if one != left_out], [one for one in roots if one != left_out],
                            subject, at, lists)
        if not isinstance(answer, str):
            return answer
    return objection


def validate(chain, roots, host, at, lists=None):
    """The pins of the validated path, or the reason of the refusal."""
    try:
        name = hosts.normalise(host)
        if not chain:
            return {"refused": "no-certificates"}
        subject = x509.IPAddress(ipaddress.ip_address(name)) if isinstance(name, bytes) else x509.DNSName(name)
        leaf, *others = [x509.load_der_x509_certificate(one) for one in chain]
        anchors = [x509.load_der_x509_certificate(one) for one in roots]
    except hosts.HostInvalid:
        return {"refused": "host-invalid"}
    except ValueError:
        return {"refused": "chain-invalid"}
    moment = datetime.datetime.fromtimestamp(at, datetime.timezone.utc)
    path = _validated(leaf, others, anchors, subject, moment, lists)
    if isinstance(path, str):
        return {"refused": path}
    return {"path": [pins.of_certificate(one.public_bytes(Encoding.DER)) for one in path]}
