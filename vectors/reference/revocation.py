# SPDX-License-Identifier: CC0-1.0
"""Revocation lists (formats.md, section 4.1), read by `cryptography`."""
import base64
import datetime
import re

from cryptography import x509

SEVEN_DAYS = datetime.timedelta(days=7)
MAXIMUM_BYTES, MAXIMUM_COUNT = 32 << 20, 1_024
_BLOCK = re.compile(rb"-----BEGIN X509 CRL-----\r?\n(.*?)-----END X509 CRL-----", re.DOTALL)
_KNOWN = (x509.CRLNumber, x509.AuthorityKeyIdentifier)
_KNOWN_OF_ENTRIES = (x509.CRLReason, x509.InvalidityDate)


def _extension(of, kind):
    try:
        return of.extensions.get_extension_for_class(kind).value
    except x509.ExtensionNotFound:
        return None


def _addresses(names):
    return {one.value for one in names or () if isinstance(one, x509.UniformResourceIdentifier)}


def _named(certificate):
    """The addresses that a certificate names, in points without reasons and without another issuer."""
    points = _extension(certificate, x509.CRLDistributionPoints) or ()
    return set().union(*(_addresses(one.full_name) for one in points if not one.reasons and not one.crl_issuer))


def _is_authority(certificate):
    constraints = _extension(certificate, x509.BasicConstraints)
    return bool(constraints and constraints.ca)


class _List:
    def __init__(self, der):
        self.crl = x509.load_der_x509_crl(der)
        self.point = _extension(self.crl, x509.IssuingDistributionPoint)
        self.begins = self.crl.last_update_utc
        self.ends = self.crl.next_update_utc or self.begins + SEVEN_DAYS
        point = self.point
        # It covers nothing, and revokes nothing.
        self.void = bool(
            point and (point.indirect_crl or point.only_some_reasons or point.only_contains_attribute_certs
                       or point.relative_name)
            or _extension(self.crl, x509.DeltaCRLIndicator)
            or any(one.critical and not isinstance(one.value, (*_KNOWN, x509.IssuingDistributionPoint))
                   for one in self.crl.extensions)
            or any(isinstance(one.value, x509.CertificateIssuer)
                   or one.critical and not isinstance(one.value, _KNOWN_OF_ENTRIES)
                   for entry in self.crl for one in entry.extensions))

    def counts(self, certificate, issuer):
        """Whether the list says anything of a certificate."""
        usage = _extension(issuer, x509.KeyUsage)
        if self.void or self.crl.issuer != certificate.issuer or usage and not usage.crl_sign:
            return False
        if self.point:
            if self.point.only_contains_user_certs and _is_authority(certificate):
                return False
            if self.point.only_contains_ca_certs and not _is_authority(certificate):
                return False
            if self.point.full_name and not _addresses(self.point.full_name) & _named(certificate):
                return False
        return self.crl.is_signature_valid(issuer.public_key())


def _ders(file):
    """The lists in a file, in DER; one in DER, or PEM with at least one."""
    if len(file) > MAXIMUM_BYTES:
        raise ValueError("a file that is too long")
    if file[:1] == b"\x30":
        return [file]
    blocks = _BLOCK.findall(file)
    if not blocks or any(len(re.findall(b"-----%s " % word, file)) != len(blocks) for word in (b"BEGIN", b"END")):
        raise ValueError("no revocation list, or half of one")
    return [base64.b64decode(b"".join(one.split()), validate=True) for one in blocks]


class Lists:
    """Lists, and what follows for a certificate that none of them covers: `if-known` or `required`."""

    def __init__(self, lists, demand):
        ders = [der for file in lists for der in _ders(file)]
        if len(ders) > MAXIMUM_COUNT:
            raise ValueError("too many revocation lists")
        self.lists, self.demand = [_List(der) for der in ders], demand

    def objection(self, path, at):
        """`revoked`, `revocation-unknown` or None for a path of certificates, the anchor last."""
        unknown = False
        for certificate, issuer in zip(path, path[1:]):
            counting = [one for one in self.lists if one.counts(certificate, issuer)]
            if any(one.crl.get_revoked_certificate_by_serial_number(certificate.serial_number) for one in counting):
                return "revoked"
            unknown = unknown or not any(one.begins <= at <= one.ends for one in counting)
        return "revocation-unknown" if unknown and self.demand == "required" else None
