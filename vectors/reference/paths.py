# SPDX-License-Identifier: CC0-1.0
"""Path validation (formats.md, section 4.1), by the verifier of `cryptography` (its own, in Rust)."""
import datetime
import ipaddress

from cryptography import x509
from cryptography.x509 import verification

import hosts
import pins


def validate(chain, roots, host, at):
    """The pins of the validated path, or the reason of the refusal."""
    if not chain:
        return {"refused": "no-certificates"}
    try:
        name = hosts.normalise(host)
        subject = x509.IPAddress(ipaddress.ip_address(name)) if isinstance(name, bytes) else x509.DNSName(name)
        store = verification.Store([x509.load_der_x509_certificate(one) for one in roots])
        moment = datetime.datetime.fromtimestamp(at, datetime.timezone.utc).replace(tzinfo=None)
        verifier = verification.PolicyBuilder().store(store).time(moment).build_server_verifier(subject)
        leaf, *others = [x509.load_der_x509_certificate(one) for one in chain]
        path = verifier.verify(leaf, others)
    except hosts.HostInvalid:
        return {"refused": "host-invalid"}
    except (verification.VerificationError, ValueError):
        return {"refused": "chain-invalid"}
    return {"path": [pins.of_certificate(one.public_bytes(_DER)) for one in path]}


from cryptography.hazmat.primitives.serialization import Encoding  # noqa: E402

_DER = Encoding.DER
