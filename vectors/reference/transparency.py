# SPDX-License-Identifier: CC0-1.0
"""Certificate Transparency (formats.md, section 4.2): timestamps in a certificate, log lists and policies."""
import base64
import hashlib

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa

import pins
import times
from strictjson import Malformed, count, member, read, unbase64

MAXIMUM_BYTES, MAXIMUM_VALUES, MAXIMUM_LOGS, MAXIMUM_PREVIOUS, MAXIMUM_TIMESTAMPS = 4_194_304, 131_072, 4_096, 64, 32
MAXIMUM_AGE, MAXIMUM_LEAD, DAY = 70 * 86_400, 300, 86_400
TRAPS = ("9EGV1vAOLbVUNcrdV3iS5T4VrUFwWPh44U/2uRh0FYk=", "si9+3rWvav5QPeBAgbLXTBJThJL+3yyypSZQPO9TztI=")
STATES = ("pending", "qualified", "usable", "readonly", "retired", "rejected")
EXTENSION = bytes.fromhex("060a2b06010401d679020402")
P256 = bytes.fromhex("3059301306072a8648ce3d020106082a8648ce3d03010703420004")
# Logs and logs of one operator up to 180 days; the same beyond; operators; the longest lifetime in days; whether one has to
# be no tiled log.
POLICIES = {"chrome": ((2, None), (3, None), 2, None, False), "apple": ((2, 1), (3, 2), 1, 398, True)}


def _time(table, name):
    """A time of a log list: a fraction of a second is cut."""
    text = member(table, name, str)
    head, dot, rest = text[:-1].partition(".")
    if dot and text.endswith("Z") and len(head) == 19 and rest.isascii() and rest.isdigit():
        text = head + "Z"
    return times.read(text)


def _objects(table, name):
    listed = member(table, name, list, [])
    if not all(isinstance(one, dict) for one in listed):
        raise Malformed(f"{name}: no objects")
    return listed


def _previous(table):
    if "previous_operators" not in table:
        return None
    listed = _objects(table, "previous_operators")
    if len(listed) > MAXIMUM_PREVIOUS:
        raise Malformed("too many earlier operators")
    return sorted((_time(one, "end_time"), member(one, "name", str)) for one in listed)


class Log:
    """One log: its id as text, its key, who runs it, its state and which certificates it takes."""

    def __init__(self, table, tiled, operator, previous):
        self.key = unbase64(member(table, "key", str))
        if unbase64(member(table, "log_id", str)) != hashlib.sha256(self.key).digest():
            raise Malformed("an id that is not its key's")
        self.id = member(table, "log_id", str)
        self.operator, self.tiled = operator, tiled
        own = _previous(table)
        self.previous = (previous or []) if own is None else own
        self.state, self.since, self.interval = "pending", None, None
        member(table, "description", str, "")
        if "state" in table:
            state = member(table, "state", dict)
            known = [name for name in STATES if name in state]
            if len(known) > 1:
                raise Malformed("two states")
            if known:
                self.state, self.since = known[0], _time(member(state, known[0], dict), "timestamp")
        if "temporal_interval" in table:
            interval = member(table, "temporal_interval", dict)
            self.interval = _time(interval, "start_inclusive"), _time(interval, "end_exclusive")
            if self.interval[0] >= self.interval[1]:
                raise Malformed("an interval that does not begin before it ends")

    def operator_at(self, at):
        """Who ran the log at a time."""
        return next((name for end, name in self.previous if at < end), self.operator)

    def accepted(self, at):
        return self.state in ("qualified", "usable", "readonly") or self.state == "retired" and at < self.since

    def verify(self, algorithm, signature, message):
        """`valid`, `invalid-signature` or `unsupported`."""
        try:
            if self.key.startswith(P256) and len(self.key) == 91:
                key = serialization.load_der_public_key(self.key)
                if algorithm != b"\x04\x03":
                    return "unsupported"
                key.verify(signature, message, ec.ECDSA(hashes.SHA256()))
                return "valid"
            key = serialization.load_der_public_key(self.key)
            again = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
            if not isinstance(key, rsa.RSAPublicKey) or key.key_size < 2_048 or again != self.key or algorithm != b"\x04\x01":
                return "unsupported"
            key.verify(signature, message, padding.PKCS1v15(), hashes.SHA256())
            return "valid"
        except InvalidSignature:
            return "invalid-signature"
        except Exception:  # whatever `cryptography` says of a key that it does not know
            return "unsupported"


class LogList:
    """A log list, by the ids of its logs."""

    def __init__(self, data):
        if not 1 <= len(data) <= MAXIMUM_BYTES:
            raise Malformed("no bytes, or too many")
        # No member that is known is a number, and what is not known is ignored.
        value = read(data, numbers=False)
        if not isinstance(value, dict) or count(value) > MAXIMUM_VALUES:
            raise Malformed("no log list, or too many values")
        self.timestamp = _time(value, "log_list_timestamp") if "log_list_timestamp" in value else None
        member(value, "operators", list)
        self.logs = {}
        for operator in _objects(value, "operators"):
            name, previous = member(operator, "name", str), _previous(operator)
            for kind, tiled in (("logs", False), ("tiled_logs", True)):
                for table in _objects(operator, kind):
                    log = Log(table, tiled, name, previous)
                    if log.id in self.logs:
                        raise Malformed("an id twice")
                    self.logs[log.id] = log
        if len(self.logs) > MAXIMUM_LOGS:
            raise Malformed("too many logs")
        for trap in TRAPS:
            self.logs.pop(trap, None)

    def stale(self, at):
        """Whether it is too old to enforce anything."""
        return self.timestamp is None or at - self.timestamp > MAXIMUM_AGE


def _elements(data):
    """The DER elements of some bytes: tag, content, and the whole."""
    found, at = [], 0
    while at < len(data):
        tag, start, end = pins.element(data, at, len(data))
        found.append((tag, data[start:end], data[at:end]))
        at = end
    return found


def _only(data, wanted):
    """The content of the one element that some bytes are."""
    found = _elements(data)
    if len(found) != 1 or found[0][0] != wanted:
        raise pins.Unreadable("another element")
    return found[0][1]


def _written(tag, content):
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    size = len(content).to_bytes((len(content).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(size)]) + size + content


def _validity(data):
    """The first and the last second."""
    seconds = []
    for tag, content, _ in _elements(_only(data, 0x30)):
        text = content.decode("ascii")
        if tag == 0x17 and len(text) == 13:
            text = ("20" if text < "50" else "19") + text
        elif tag != 0x18 or len(text) != 15:
            raise pins.Unreadable("no time")
        seconds.append(times.read("{}-{}-{}T{}:{}:{}{}".format(
            text[:4], text[4:6], text[6:8], text[8:10], text[10:12], text[12:14], text[14:])))
    first, last = seconds
    if first > last:
        raise pins.Unreadable("a validity that ends before it begins")
    return first, last


class Logged:
    """A certificate as its logs saw it: the TBSCertificate without the timestamps, the list of those, and the validity."""

    def __init__(self, certificate):
        fields = pins.fields(certificate)
        self.begins, self.ends = _validity(fields["validity"])
        rest, self.list, kept, cut = fields["extensions"], None, b"", False
        tbs = _elements(_only(certificate, 0x30))[0]
        if rest:
            # What stands between the key and the extensions are the unique identifiers.
            *others, (tag, tagged, _) = _elements(rest)
            if tag != 0xA3 or any(one[0] not in (0x81, 0x82, 0xA1, 0xA2) for one in others):
                raise pins.Unreadable("no extensions")
            for _, content, whole in _elements(_only(tagged, 0x30)):
                if not whole.startswith(b"\x30") or not content.startswith(EXTENSION):
                    kept += whole
                    continue
                if cut:
                    raise pins.Unreadable("the timestamps twice")
                cut = True
                members = _elements(content)[1:]
                if members and members[0][0] == 0x01:
                    members = members[1:]
                if len(members) != 1 or members[0][0] != 0x04:
                    raise pins.Unreadable("no extension")
                self.list = _only(members[0][1], 0x04)
        self.tbs = tbs[2]
        if cut:
            before = tbs[1][:len(tbs[1]) - len(_elements(rest)[-1][2])]
            self.tbs = _written(0x30, before + (_written(0xA3, _written(0x30, kept)) if kept else b""))

    def timestamps(self):
        """The timestamps: bytes each."""
        data = self.list
        if data is None or len(data) < 2 or int.from_bytes(data[:2], "big") != len(data) - 2 or len(data) == 2:
            raise pins.Unreadable("no list of timestamps")
        found, at = [], 2
        while at < len(data):
            size = int.from_bytes(data[at:at + 2], "big")
            if len(data) - at < 2 + size:
                raise pins.Unreadable("a timestamp beyond the list")
            found.append(data[at + 2:at + 2 + size])
            at += 2 + size
        if len(found) > MAXIMUM_TIMESTAMPS:
            raise pins.Unreadable("too many timestamps")
        return found


class Timestamp:
    """A signed certificate timestamp of version 1."""

    def __init__(self, data):
        self.log = base64.b64encode(data[1:33]).decode()
        self.milliseconds = int.from_bytes(data[33:41], "big")
        self.extensions, at = self._vector(data, 41)
        self.algorithm = data[at:at + 2]
        self.signature, at = self._vector(data, at + 2)
        if at != len(data):
            raise Malformed("something follows")

    @staticmethod
    def _vector(data, at):
        size = int.from_bytes(data[at:at + 2], "big")
        if len(data) < at + 2 + size:
            raise Malformed("cut off")
        return data[at + 2:at + 2 + size], at + 2 + size

    @property
    def seconds(self):
        return self.milliseconds // 1_000

    def signed(self, entry):
        """What the log signed over an entry."""
        return (b"\0\0" + self.milliseconds.to_bytes(8, "big") + entry + len(self.extensions).to_bytes(2, "big")
                + self.extensions)


def _status(timestamp, log, entry, ends, at):
    if log is None:
        return "unknown-log"
    answer = log.verify(timestamp.algorithm, timestamp.signature, timestamp.signed(entry))
    if answer != "valid":
        return answer
    if timestamp.milliseconds > (at + MAXIMUM_LEAD) * 1_000:
        return "in-the-future"
    if log.interval and not log.interval[0] <= ends < log.interval[1]:
        return "outside-interval"
    return "log-rejected" if log.state in ("pending", "rejected") else "valid"


def _satisfied(policy, valid, lifetime, at):
    """Whether a policy is satisfied by timestamps that are valid, each with its log."""
    short, long, operators, days, rfc6962 = POLICIES[policy]
    earliest = min((timestamp.seconds for timestamp, _ in valid), default=None)
    counted = {}
    for timestamp, log in valid:
        if log.state == "retired" and not log.accepted(at) and earliest >= log.since:
            continue
        counted.setdefault(log.id, (log, log.operator_at(timestamp.seconds)))
    of = {}
    for _, operator in counted.values():
        of[operator] = of.get(operator, 0) + 1
    needed, most = short if lifetime <= 180 * DAY else long
    return (
        (days is None or lifetime <= days * DAY)
        and sum(number if most is None else min(number, most) for number in of.values()) >= needed
        and len(of) >= operators
        and any(log.accepted(at) for log, _ in counted.values())
        and (not rfc6962 or any(not log.tiled for log, _ in counted.values())))


def judge(path, log_list, policy, at):
    """The judgement on a path, without its words."""
    try:
        logged = Logged(path[0])
        issuer = hashlib.sha256(pins.fields(path[1])["key"]).digest()
        listed = logged.timestamps()
    except (pins.Unreadable, Malformed, ValueError, IndexError):
        return {"policy": policy, "satisfied": False, "scts": []}
    entry = b"\0\1" + issuer + len(logged.tbs).to_bytes(3, "big") + logged.tbs
    shown, valid = [], []
    for data in listed:
        if data and data[0] != 0:
            continue
        try:
            if len(data) < 41:
                raise Malformed("cut off")
            timestamp = Timestamp(data)
        except Malformed:
            shown.append({"status": "malformed"})
            continue
        log = log_list.logs.get(timestamp.log)
        status = _status(timestamp, log, entry, logged.ends, at)
        one = {"log": timestamp.log, "timestamp": times.write(timestamp.seconds), "status": status}
        if log:
            one["operator"] = log.operator_at(timestamp.seconds)
        shown.append(one)
        if status == "valid":
            valid.append((timestamp, log))
    lifetime = logged.ends - logged.begins + 1
    return {"policy": policy, "satisfied": _satisfied(policy, valid, lifetime, at), "scts": shown}
