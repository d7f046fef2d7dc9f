# SPDX-License-Identifier: CC0-1.0
"""Strict JSON (formats.md, section 3): no member twice, whole numbers of 64 bits, text that is well-formed."""
import base64
import binascii
import json

MAXIMUM_DEPTH = 32


class Malformed(Exception):
    """What is not strict JSON, or not of the shape that is asked for."""


def _whole(text):
    number = int(text)
    if not -(2**63) <= number < 2**63:
        raise Malformed("a number beyond 64 bits")
    return number


def _refuse(text):
    raise Malformed("a number that is not whole")


def _members(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Malformed("a member twice")
    return members


def _check(value, depth):
    if isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, (dict, list)):
        if depth >= MAXIMUM_DEPTH:
            raise Malformed("too deep")
        for part in value:
            if isinstance(value, dict):
                part.encode("utf-8")
                part = value[part]
            _check(part, depth + 1)


def read(data, numbers=True):
    """The value that the bytes are, and nothing beside it. Without numbers, each of any kind is None."""
    def nothing(text):
        return None
    try:
        value = json.loads(
            bytes(data).decode("utf-8"), object_pairs_hook=_members, parse_int=_whole if numbers else nothing,
            parse_float=_refuse if numbers else nothing, parse_constant=_refuse)
        _check(value, 0)
        return value
    except (ValueError, RecursionError) as error:
        raise Malformed(str(error)) from error


def count(value):
    """How many JSON values a value is, itself included."""
    if isinstance(value, dict):
        return 1 + sum(count(part) for part in value.values())
    if isinstance(value, list):
        return 1 + sum(count(part) for part in value)
    return 1


def unbase64(text):
    """Base64 in the standard alphabet with padding, in its one canonical spelling."""
    if not isinstance(text, str):
        raise Malformed("no text where base64 belongs")
    try:
        data = base64.b64decode(text.encode("ascii"), validate=True)
    except (ValueError, binascii.Error) as error:
        raise Malformed("no base64") from error
    if base64.b64encode(data).decode() != text:
        raise Malformed("base64 that is spelled otherwise")
    return data


def member(table, name, kind, default=None):
    """A member of an object: of this type, never null; without a default it has to be there."""
    if name not in table:
        if default is None:
            raise Malformed(f"{name} is missing")
        return default
    value = table[name]
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise Malformed(f"{name} is of the wrong type")
    return value
