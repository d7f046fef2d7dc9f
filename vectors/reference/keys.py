# SPDX-License-Identifier: CC0-1.0
"""Keys and signatures (formats.md, section 3). The mathematics is that of `cryptography`."""
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, mldsa, utils
from cryptography.hazmat.primitives.serialization import load_der_public_key

from strictjson import Malformed

# What stands before the bytes of the key, the length of the whole, and that of a signature.
FORMS = {
    "ecdsa-p256-sha256": (bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d03010703420004"), 91, 64),
    "ed25519": (bytes.fromhex("302a300506032b6570032100"), 44, 64),
    "ml-dsa-65": (bytes.fromhex("308207b2300b0609608648016503040312038207a100"), 1_974, 3_309),
}
_P = 2**255 - 19


def _is_small(encoded):
    """Whether a point of Ed25519 has an order that divides 8, however it is spelled: under it anybody can sign."""
    y = int.from_bytes(encoded, "little") & (2**255 - 1)
    d = -121665 * pow(121666, _P - 2, _P) % _P

    def double(y):
        # The y of twice the point: (y² + x²) / (2 - (y² - x²)), with x² = (y² - 1) / (dy² + 1).
        if y is None:
            return None
        square = y * y % _P
        x_square = (square - 1) * pow(d * square + 1, _P - 2, _P) % _P
        return (square + x_square) * pow((2 + x_square - square) % _P, _P - 2, _P) % _P

    y %= _P
    for _ in range(3):
        y = double(y)
    return y == 1


class Key:
    """A public key: its algorithm and its bytes. One of an unknown algorithm verifies nothing."""

    def __init__(self, algorithm, der):
        self.algorithm, self.der, self.known = algorithm, der, algorithm in FORMS
        if not self.known:
            return
        prefix, length, self.signature = FORMS[algorithm]
        if not der.startswith(prefix) or len(der) != length:
            raise Malformed("a key in another form")
        if algorithm == "ed25519" and _is_small(der[len(prefix):]):
            raise Malformed("a key of small order")
        if algorithm == "ecdsa-p256-sha256":
            try:
                load_der_public_key(der)
            except ValueError as error:
                raise Malformed("no point of the curve") from error

    def __eq__(self, other):
        return (self.algorithm, self.der) == (other.algorithm, other.der)

    def __hash__(self):
        return hash((self.algorithm, self.der))

    def verifies(self, signature, message):
        """Whether a signature is this key's."""
        if not self.known or len(signature) != self.signature:
            return False
        try:
            if self.algorithm == "ecdsa-p256-sha256":
                pair = (int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
                load_der_public_key(self.der).verify(
                    utils.encode_dss_signature(*pair), message, ec.ECDSA(hashes.SHA256()))
            elif self.algorithm == "ed25519":
                ed25519.Ed25519PublicKey.from_public_bytes(self.der[12:]).verify(signature, message)
            else:
                mldsa.MLDSA65PublicKey.from_public_bytes(self.der[22:]).verify(signature, message)
            return True
        except (InvalidSignature, ValueError):
            return False
