# SPDX-License-Identifier: CC0-1.0
"""Hosts and domains (formats.md, section 2)."""
import ipaddress
import re
import string

_ALLOWED = set(string.ascii_lowercase + string.digits + "-_.")


class HostInvalid(Exception):
    """A name that no connection is made for."""


def _ipv4(text):
    parts = text.split(".")
    if len(parts) != 4:
        return None
    for part in parts:
        if not re.fullmatch(r"0|[1-9][0-9]{0,2}", part, re.ASCII) or int(part) > 255:
            return None
    return bytes(int(part) for part in parts)


def normalise(host):
    """The name in lower case without its last dot, or the bytes of an address (4 or 16; a mapped one is 4)."""
    if not host.isascii():
        raise HostInvalid("a byte outside of ASCII")
    host = host.lower()
    if ":" in host or "[" in host:
        inner = host[1:-1] if host.startswith("[") and host.endswith("]") else host
        if "%" in inner:
            raise HostInvalid("a zone id")
        try:
            address = ipaddress.IPv6Address(inner)
        except ValueError as error:
            raise HostInvalid("no IPv6 address") from error
        return address.ipv4_mapped.packed if address.ipv4_mapped else address.packed
    if host.endswith("."):
        host = host[:-1]
    if not host or len(host) > 253 or not set(host) <= _ALLOWED:
        raise HostInvalid("empty, too long, or a byte that no host has")
    labels = host.split(".")
    if any(not 1 <= len(label) <= 63 for label in labels):
        raise HostInvalid("an empty label or one that is too long")
    address = _ipv4(host)
    if address:
        return address
    if labels[-1].isdigit() or labels[-1].startswith("0x"):
        raise HostInvalid("a number as the last label")
    return host


def noted(entries, host):
    """The entry that applies: of entries with `host` (normalised) and `includeSubdomains`, the nearest, or None."""
    table = {entry["host"]: entry for entry in entries}
    if host in table:
        return table[host]
    if isinstance(host, bytes):
        return None
    labels = host.split(".")
    for start in range(1, len(labels)):
        entry = table.get(".".join(labels[start:]))
        if entry and entry["includeSubdomains"]:
            return entry
    return None
