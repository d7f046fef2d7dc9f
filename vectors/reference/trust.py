# SPDX-License-Identifier: CC0-1.0
"""Which list is in force: the rules for trusting roots and lists (formats.md, section 3.3)."""
from metadata import Envelope, PinList, Refusal, Root
from strictjson import Malformed

FUTURE = 86_400


def _payload(reader, envelope, kind):
    try:
        return reader(envelope.payload)
    except Malformed as error:
        raise Refusal("malformed", kind) from error


class HeldList:
    """A list with its envelope."""

    def __init__(self, envelope):
        self.envelope, self.list = envelope, _payload(PinList, envelope, "pins")


class Trust:
    """What a client holds: the chain of roots, the list that the app ships, and the one from outside."""

    def __init__(self, root, bundled, build=None, mark=None):
        envelope = Envelope(root, "root")
        first = _payload(Root, envelope, "root")
        first.verify(envelope, "root", "root", both=False)
        self.roots, self.revoked_before = [(first, envelope)], None
        self.build, self.mark, self.bundled, self.outside = build, mark, None, None
        if bundled is not None:
            self.bundled = self._read(bundled, [first], both=False)

    @property
    def newest(self):
        """The newest root."""
        return self.roots[-1][0]

    def _read(self, data, roots, both):
        """A list that carries a threshold under one of the roots."""
        envelope = Envelope(data, "pins")
        first = None
        for root in roots:
            try:
                root.verify(envelope, "pins", "pins", both)
                break
            except Refusal as refusal:
                first = first or refusal
        else:
            raise first
        held = HeldList(envelope)
        if held.list.name != self.newest.name:
            raise Refusal("wrong-name", "pins")
        return held

    def status(self, held):
        """`current`, `superseded`, or None for what carries no threshold under any root."""
        newest = True
        for root, _ in reversed(self.roots):
            try:
                root.verify(held.envelope, "pins", "pins", both=False)
                early = self.revoked_before is not None and held.list.issued < self.revoked_before
                return "current" if newest and not early else "superseded"
            except Refusal:
                newest = False
        return None

    def in_force(self):
        """The list in force, its status, and where it is from; None without one."""
        held = [(one, self.status(one), source)
                for one, source in ((self.bundled, "bundled"), (self.outside, "outside")) if one]
        chosen = [one for one in held if one[1] == "current"] or [one for one in held if one[1]]
        if not chosen:
            return None
        best = max(one[0].list.version for one in chosen)
        chosen = [one for one in chosen if one[0].list.version == best]
        if len(chosen) == 2 and chosen[0][0].envelope.payload == chosen[1][0].envelope.payload:
            return chosen[1]
        return chosen[0]

    def now(self, clock):
        """The later of the clock and the build date."""
        return max(clock, self.build if self.build is not None else clock)

    def reference(self, clock):
        """The later of now and the `issuedAt` of the current list in force."""
        force = self.in_force()
        if force and force[1] == "current":
            return max(self.now(clock), force[0].list.issued)
        return self.now(clock)

    def stale(self, clock):
        """Whether the list in force has expired."""
        force = self.in_force()
        return bool(force) and force[0].list.expires <= self.reference(clock)

    def offer_root(self, data, clock):
        """Takes the next root; without a clock it is one that was stored."""
        envelope, old = Envelope(data, "root"), self.newest
        old.verify(envelope, "root", "root", both=True)
        root = _payload(Root, envelope, "root")
        try:
            root.verify(envelope, "root", "root", both=True)
        except Refusal as refusal:
            raise Refusal("threshold-not-met", "root") from refusal
        if root.name != old.name:
            raise Refusal("wrong-name", "root")
        if root.version > old.version + 1:
            raise Refusal("root-gap", "root")
        if root.version < old.version + 1:
            same = root.version == old.version
            other = same and envelope.payload != self.roots[-1][1].payload
            raise Refusal("equivocation" if other else "rollback", "root")
        if clock is not None and root.issued > self.now(clock) + FUTURE:
            raise Refusal("issued-in-future", "root")
        if not old.role("pins") <= root.role("pins"):
            self.revoked_before = root.issued
        self.roots.append((root, envelope))
        return "newer"

    def load_list(self, data):
        """Takes a list that was stored: judged by no time."""
        self.outside = self._read(data, [root for root, _ in reversed(self.roots)], both=False)
        return "loaded"

    def _marked(self):
        """The version of the mark, while the keys that it names make a threshold."""
        if not self.mark or self.mark["name"] != self.newest.name:
            return 0
        keyids, threshold = self.newest.roles["pins"][0]
        return self.mark["version"] if len(set(keyids) & set(self.mark["keyids"])) >= threshold else 0

    def _loses(self, held, offered):
        """Whether a signature that counts, or may come to count, is in the held envelope and not in the offered one."""
        newest = set(self.newest.keys.values())
        if not held.signers(newest) <= offered.signers(newest):
            return True
        known = {key for root, _ in self.roots for key in root.keys.values()}
        offered_bytes = {signature for _, signature in offered.signatures}
        for _, signature in held.signatures:
            if not any(key.verifies(signature, held.signed) for key in known) and signature not in offered_bytes:
                return True
        return False

    def offer_list(self, data, clock):
        """Takes a list from outside, if it is newer."""
        offered = self._read(data, [self.newest], both=True)
        force = self.in_force()
        held = force[0] if force and force[1] == "current" else None
        version = offered.list.version
        if held and version < held.list.version or version < self._marked():
            raise Refusal("rollback", "pins")
        if self.revoked_before is not None and offered.list.issued < self.revoked_before:
            raise Refusal("rollback", "pins")
        if held and version == held.list.version:
            if offered.envelope.payload != held.envelope.payload:
                raise Refusal("equivocation", "pins")
            if offered.envelope.data == held.envelope.data:
                return "unchanged"
            if self._loses(held.envelope, offered.envelope):
                return "signature-lost"
            self.outside = offered
            return "resigned"
        if offered.list.issued > self.now(clock) + FUTURE:
            raise Refusal("issued-in-future", "pins")
        if self.newest.expires <= self.now(clock):
            raise Refusal("expired", "pins", "root")
        if offered.list.expires <= self.reference(clock):
            raise Refusal("expired", "pins", "pins")
        self.outside = offered
        return "newer"
