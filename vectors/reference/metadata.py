# SPDX-License-Identifier: CC0-1.0
"""Envelopes, roots and lists, as they are read (formats.md, section 3)."""
import hashlib
import ipaddress
import re
import urllib.parse

import hosts
import keys
import pins
import times
from strictjson import Malformed, count, member, read, unbase64

TYPES = {"root": "application/vnd.tumbler.root+json", "pins": "application/vnd.tumbler.pins+json"}
MAXIMUM_BYTES = {"root": 512_000, "pins": 4_194_304}
MAXIMUM_KEYS = MAXIMUM_SIGNATURES = 32
MAXIMUM_SIGNATURE_BYTES = 65_536
MAXIMUM_VALUES = 4_096
MAXIMUM_DOMAINS, MAXIMUM_PINS, MAXIMUM_DENIED, MAXIMUM_SUSPENDED = 10_000, 16, 256, 256
MAXIMUM_VERSION = 2**53 - 1
MAXIMUM_SUSPENSION = 7 * 86_400
MAXIMUM_ADDRESS = 2_048
MAXIMUM_REVOKED, MAXIMUM_SERIALS, MAXIMUM_SERIAL = 256, 4_096, 64
MAXIMUM_LOGS = 4_194_304
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)


class Refusal(Exception):
    """A refusal of section 3.3: its code, and what of (`root` or `pins`) has expired."""

    def __init__(self, code, what, of=None):
        super().__init__(code)
        self.code, self.what, self.of = code, what, of


class Envelope:
    """A DSSE envelope: payload, payload type, and signatures as (keyid, bytes)."""

    def __init__(self, data, kind):
        if len(data) > MAXIMUM_BYTES[kind]:
            raise Refusal("too-large", kind)
        try:
            value = read(data)
            if not isinstance(value, dict) or count(value) > MAXIMUM_VALUES:
                raise Malformed("no envelope")
            self.type = member(value, "payloadType", str)
            self.payload = unbase64(member(value, "payload", str))
            signatures = member(value, "signatures", list)
            if len(signatures) > MAXIMUM_SIGNATURES:
                raise Malformed("too many signatures")
            self.signatures = []
            for one in signatures:
                if not isinstance(one, dict):
                    raise Malformed("no signature")
                signature = unbase64(member(one, "sig", str))
                if len(signature) > MAXIMUM_SIGNATURE_BYTES:
                    raise Malformed("a signature that is too long")
                self.signatures.append((member(one, "keyid", str, ""), signature))
        except Malformed as error:
            raise Refusal("malformed", kind) from error
        if self.type != TYPES[kind]:
            raise Refusal("wrong-type", kind)
        self.data = data
        self.signed = b"DSSEv1 %d %s %d %s" % (
            len(self.type.encode()), self.type.encode(), len(self.payload), self.payload)

    def signers(self, candidates):
        """Which of the keys signed."""
        return {key for key in candidates if any(key.verifies(sig, self.signed) for _, sig in self.signatures)}


def _header(value, kind):
    """Type, version of the specification, name, version and times, which roots and lists share."""
    if not isinstance(value, dict):
        raise Malformed("no object")
    if member(value, "type", str) != kind:
        raise Refusal("wrong-type", kind)
    if not re.fullmatch(r"1\.[0-9]+", member(value, "specVersion", str), re.ASCII):
        raise Malformed("another specification")
    name = member(value, "name", str)
    if not NAME.fullmatch(name):
        raise Malformed("no name")
    version = member(value, "version", int)
    if not 1 <= version <= MAXIMUM_VERSION:
        raise Malformed("no version")
    issued, expires = times.read(member(value, "issuedAt", str)), times.read(member(value, "expiresAt", str))
    if expires <= issued:
        raise Malformed("it ends before it begins")
    return name, version, issued, expires


class Root:
    """A root: keys by id, and for each role its demands as (keyids, threshold); the second one is the hybrid."""

    def __init__(self, payload):
        value = read(payload)
        self.name, self.version, self.issued, self.expires = _header(value, "root")
        listed = member(value, "keys", dict)
        if len(listed) > MAXIMUM_KEYS:
            raise Malformed("too many keys")
        self.keys = {}
        for keyid, one in listed.items():
            if not isinstance(one, dict):
                raise Malformed("no key")
            key = keys.Key(member(one, "algorithm", str), unbase64(member(one, "publicKey", str)))
            if hashlib.sha256(key.der).hexdigest() != keyid:
                raise Malformed("a keyid that does not match")
            self.keys[keyid] = key
        roles = member(value, "roles", dict)
        self.roles = {role: self._role(member(roles, role, dict)) for role in ("root", "pins")}

    def _demand(self, value):
        keyids, threshold = member(value, "keyids", list), member(value, "threshold", int)
        if len(set(map(str, keyids))) != len(keyids) or not all(isinstance(k, str) for k in keyids):
            raise Malformed("a keyid twice")
        if any(keyid not in self.keys for keyid in keyids) or not 1 <= threshold <= len(keyids):
            raise Malformed("a keyid without a key, or a threshold out of range")
        return keyids, threshold

    def _role(self, value):
        demands = [self._demand(value)]
        if "hybrid" in value:
            demands.append(self._demand(member(value, "hybrid", dict)))
            if set(demands[0][0]) & set(demands[1][0]):
                raise Malformed("a keyid in both demands")
        return demands

    def role(self, role):
        """The keys of a role's first demand."""
        return {self.keys[keyid] for keyid in self.roles[role][0][0]}

    def demands(self, role, both):
        """What has to be met: sets of keys with thresholds. The hybrid one only where all of its keys can verify."""
        sets = [({self.keys[keyid] for keyid in keyids}, threshold) for keyids, threshold in self.roles[role]]
        return [one for index, one in enumerate(sets)
                if index == 0 or both and all(key.known for key in one[0])]

    def verify(self, envelope, role, kind, both):
        """Refuses what carries no threshold of a role."""
        demands = self.demands(role, both)
        signed = envelope.signers(set().union(*(candidates for candidates, _ in demands)))
        if not signed:
            raise Refusal("unsigned", kind)
        if any(len(signed & candidates) < threshold for candidates, threshold in demands):
            raise Refusal("threshold-not-met", kind)


def _address(text):
    """Whether reports may be sent to an address."""
    if len(text.encode()) > MAXIMUM_ADDRESS:
        return False
    parts = urllib.parse.urlsplit(text)
    host = parts.hostname or ""
    loopback = host == "localhost"
    try:
        loopback = loopback or ipaddress.ip_address(host).is_loopback
    except ValueError:
        pass
    return bool(host) and (parts.scheme == "https" or parts.scheme == "http" and loopback)


def _addresses(value):
    listed = member(value, "reportTo", list, [])
    try:
        if not all(isinstance(text, str) and _address(text) for text in listed):
            raise Malformed("an address that reports may not go to")
    except ValueError as error:
        raise Malformed("no address") from error
    return listed


def shortest(octets):
    """Whether content octets of an INTEGER are the one form that DER has for the number."""
    return len(octets) == 1 or len(octets) > 1 and not (
        octets[0] == 0 and octets[1] < 0x80 or octets[0] == 0xFF and octets[1] >= 0x80)


def _share(value, name, low, high, default):
    number = member(value, name, int, default)
    if number is not None and not low <= number <= high:
        raise Malformed(f"{name} out of range")
    return number


class PinList:
    """A list of pins."""

    def __init__(self, payload):
        value = read(payload)
        self.name, self.version, self.issued, self.expires = _header(value, "pins")
        _share(value, "refreshAfter", 0, MAXIMUM_VERSION, 43_200)
        self.report_to = _addresses(value)
        self.per_million = _share(value, "reportPerMillion", 1, 1_000_000, 1_000_000)
        self.domains = [self._domain(one) for one in self._objects(value, "domains", MAXIMUM_DOMAINS, None)]
        if len({one["host"] for one in self.domains}) != len(self.domains):
            raise Malformed("a domain twice")
        self.denied = [self._denied(one) for one in member(value, "denied", list, [])]
        if len(self.denied) > MAXIMUM_DENIED:
            raise Malformed("too many denied")
        self.revoked, seen = [], set()
        for one in self._objects(value, "revoked", MAXIMUM_REVOKED, []):
            self._revoke(one, seen)
        self.logs = self._logs(member(value, "logs", dict)) if "logs" in value else None
        self.suspended = [self._suspension(one) for one in self._objects(value, "suspended", MAXIMUM_SUSPENDED, [])]
        self.unlisted = member(value, "unlisted", str, "allow")
        if self.unlisted not in ("allow", "report", "deny"):
            raise Malformed("unlisted")

    @staticmethod
    def _objects(value, name, maximum, default):
        listed = member(value, name, list, default)
        if len(listed) > maximum or not all(isinstance(one, dict) for one in listed):
            raise Malformed(f"{name}: too many, or no objects")
        return listed

    @staticmethod
    def _host(text):
        try:
            return hosts.normalise(text)
        except hosts.HostInvalid as error:
            raise Malformed("no host") from error

    def _domain(self, value):
        text = member(value, "domain", str)
        entry = {"host": self._host(text), "domain": text.lower().removesuffix("."),
                 "includeSubdomains": member(value, "includeSubdomains", bool, False),
                 "mode": member(value, "mode", str, "enforce"), "rollout": _share(value, "rollout", 0, 100, 100),
                 "requireIssuer": member(value, "requireIssuer", bool, False), "reportTo": _addresses(value),
                 "perMillion": _share(value, "reportPerMillion", 1, 1_000_000, self.per_million), "expires": None}
        if "expiresAt" in value:
            entry["expires"] = times.read(member(value, "expiresAt", str))
        if entry["mode"] not in ("enforce", "report", "off"):
            raise Malformed("mode")
        if isinstance(entry["host"], bytes) and entry["includeSubdomains"]:
            raise Malformed("subdomains of an address")
        listed = self._objects(value, "pins", MAXIMUM_PINS, [])
        if not listed and entry["mode"] != "off":
            raise Malformed("no pin")
        entry["pins"] = []
        positions = []
        for one in listed:
            member(one, "note", str, "")
            position, pin = member(one, "position", str, "any"), pins.listed(member(one, "pin", str))
            positions.append(position)
            if pin and position in ("any", "leaf", "issuer"):
                entry["pins"].append((pin, position))
        if entry["requireIssuer"] and ("any" in positions or not {"leaf", "issuer"} <= set(positions)):
            raise Malformed("requireIssuer")
        entry["transparency"] = self._transparency(member(value, "transparency", dict, {}))
        return entry

    @staticmethod
    def _transparency(one):
        """Mode and policy; None where nothing is asked, or something that nobody knows yet."""
        mode, policy = member(one, "mode", str, "off"), member(one, "policy", str, "")
        if mode not in ("report", "enforce"):
            return None
        if "policy" not in one:
            raise Malformed("no policy")
        return (mode, policy) if policy in ("chrome", "apple") else None

    @staticmethod
    def _logs(one):
        digest, length = member(one, "sha256", str), member(one, "length", int)
        if not re.fullmatch("[0-9a-f]{64}", digest) or not 1 <= length <= MAXIMUM_LOGS:
            raise Malformed("logs")
        return digest, length

    def _revoke(self, one, seen):
        """Adds (issuer, serial number, mode) for each serial number; `seen` are those so far."""
        text = member(one, "issuer", str)
        if text.startswith("cert-sha256/"):
            raise Malformed("an issuer that is no key")
        issuer = pins.listed(text)
        mode = member(one, "mode", str, "enforce")
        member(one, "note", str, "")
        if mode not in ("enforce", "report"):
            raise Malformed("mode")
        for serial in member(one, "serials", list):
            if not isinstance(serial, str) or not re.fullmatch("([0-9a-f]{2}){1,%d}" % MAXIMUM_SERIAL, serial):
                raise Malformed("no serial number")
            if not shortest(bytes.fromhex(serial)) or (text, serial) in seen or len(seen) == MAXIMUM_SERIALS:
                raise Malformed("not the shortest, twice, or too many")
            seen.add((text, serial))
            if issuer:
                self.revoked.append((issuer, serial, mode))

    @staticmethod
    def _denied(one):
        if isinstance(one, str):
            one = {"pin": one}
        if not isinstance(one, dict):
            raise Malformed("denied")
        member(one, "note", str, "")
        mode = member(one, "mode", str, "enforce")
        if mode not in ("enforce", "report"):
            raise Malformed("mode")
        return pins.listed(member(one, "pin", str)), mode

    def _suspension(self, one):
        domain, until = member(one, "domain", str), times.read(member(one, "until", str))
        member(one, "reason", str)
        if not self.issued < until <= self.issued + MAXIMUM_SUSPENSION:
            raise Malformed("until")
        return (None if domain == "*" else self._host(domain)), until
