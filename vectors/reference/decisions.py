# SPDX-License-Identifier: CC0-1.0
"""Pin validation (formats.md, section 4): list, validated path, host and time give a decision."""
import hosts
import metadata
import pins
import rollout
import transparency


def _readable_pin(certificate):
    try:
        return pins.of_certificate(certificate)
    except pins.Unreadable:
        return None


def _serial(certificate):
    """The content octets of a certificate's serial number; None where it cannot be read."""
    try:
        serial = pins.fields(certificate)["serial"]
    except pins.Unreadable:
        return None
    _, start, end = pins.element(serial, 0, len(serial))
    return serial[start:end] if metadata.shortest(serial[start:end]) else None


def _seen(pin, path, position="any"):
    """The first certificate of a path that a pin names, in its position."""
    for index, (key, whole) in enumerate(path):
        if position == "leaf" and index > 0 or position == "issuer" and index == 0:
            continue
        if key is not None and pin in (key, whole):
            return {"pin": pin, "index": index}
    return None


def _first(entry_pins, path, positions):
    """Of the pins that match, the one of the certificate nearest to the leaf; of those the first in the list."""
    found = [_seen(pin, path, position) for pin, position in entry_pins if position in positions]
    return min((one for one in found if one), key=lambda one: one["index"], default=None)


class Policy:
    """A list as rules for one installation."""

    def __init__(self, pin_list, installation=None, stale=False, when_stale="enforce", logs=None):
        self.list, self.installation, self.stale, self.logs = pin_list, installation, stale, logs
        self.entries = [dict(entry) for entry in pin_list.domains]
        for entry in self.entries:
            entry["enforced"] = entry["mode"] == "enforce" and rollout.enforces(
                installation, pin_list.name, entry["domain"], entry["rollout"])
            if stale and entry["mode"] != "off":
                if when_stale == "report":
                    entry["enforced"] = False
                elif when_stale == "deny":
                    entry["enforced"], entry["pins"] = True, []

    def decide(self, host, path, at, transport=None, tampering=False):
        """The decision on a path (DER, leaf first). `transport` is the reason of what never had a path that may be used,
        or `cleartext`, or `other-host-connection`; `path` is then None where there is none."""
        seen = [(_readable_pin(one), pins.certificate_pin(one)) for one in path or []]
        answer = {"host": host, "notedHostname": None, "matched": None, "matchedIssuer": None,
                  "path": [key for key, _ in seen],
                  "list": {"name": self.list.name, "version": self.list.version, "stale": self.stale}}
        try:
            name = hosts.normalise(host)
        except hosts.HostInvalid:
            return answer | {"verdict": "block", "enforced": True, "reason": "host-invalid"}
        answer["host"] = host.lower().removesuffix(".")
        entry = hosts.noted(self.entries, name)
        answer["notedHostname"] = entry and entry["domain"]
        if transport in ("chain-invalid", "no-certificates", "over-budget", "revoked", "revocation-unknown"):
            return answer | self._refusal(transport)
        if path is None:
            return answer | self._without_match(entry, at, transport)
        if not path:
            return answer | self._refusal("no-certificates")
        answer |= self._denied(seen) or self._revoked(path, seen) or self._listed(entry, seen, at)
        answer |= self._logged(entry, answer, path, at)
        if transport and answer["reason"] == "no-matching-pin":
            answer["reason"] = transport
        if tampering and answer["reason"] in ("pin-match", "transparency") and answer["verdict"] == "allow" and answer["enforced"]:
            answer.pop("transparency", None)
            answer |= {"matched": None, "matchedIssuer": None} | self._refusal("tampering")
        return answer

    @staticmethod
    def _refusal(reason):
        return {"verdict": "block", "enforced": True, "reason": reason}

    def _denied(self, seen):
        """What follows from denied keys; `denied` alone where the entry only reports."""
        self.reported = {}
        hits = [(mode, hit) for pin, mode in self.list.denied if pin and (hit := _seen(pin, seen))]
        for mode, hit in hits:
            if mode == "enforce":
                return self._refusal("denied-key") | {"denied": hit}
        self.reported = {"denied": hits[0][1]} if hits else {}
        if any(key is None for key, _ in seen) and any(pin and mode == "enforce" for pin, mode in self.list.denied):
            return self._refusal("denied-undecidable") | self.reported
        return None

    def _revoked(self, path, seen):
        """What follows from revoked certificates: the anchor has no issuer that could take it back."""
        modes = {(issuer, serial): mode for issuer, serial, mode in self.list.revoked}
        found, readable = [], all(key is not None for key, _ in seen)
        for index, certificate in enumerate(path[:-1]):
            serial, issuer = _serial(certificate), seen[index + 1][0]
            readable = readable and serial is not None
            if serial is not None and (mode := modes.get((issuer, serial.hex()))):
                found.append((mode, {"issuer": issuer, "serial": serial.hex(), "index": index}))
        for mode, one in found:
            if mode == "enforce":
                return self._refusal("revoked") | self.reported | {"revoked": one}
        if not readable and "enforce" in modes.values():
            return self._refusal("denied-undecidable") | self.reported
        if found:
            self.reported["revoked"] = found[0][1]
        return None

    def _logged(self, entry, answer, path, at):
        """What follows from the entry's policy of Certificate Transparency."""
        if answer["reason"] != "pin-match" or not entry["transparency"] or not self.logs or self.logs.stale(at):
            return {}
        mode, policy = entry["transparency"]
        judged = transparency.judge(path, self.logs, policy, at)
        if judged["satisfied"]:
            return {"transparency": judged}
        blocked = answer["enforced"] and mode == "enforce"
        return {"transparency": judged, "reason": "transparency", "verdict": "block" if blocked else "allow"}

    def _listed(self, entry, seen, at):
        """What follows from the entry."""
        answer = self._without_match(entry, at, "no-matching-pin")
        if answer["reason"] == "no-matching-pin":
            if entry["requireIssuer"]:
                matched = _first(entry["pins"], seen, ("leaf",))
                issuer = _first(entry["pins"], seen, ("issuer",))
                matched = matched and issuer and matched
            else:
                matched, issuer = _first(entry["pins"], seen, ("any", "leaf", "issuer")), None
            if matched:
                answer = {"verdict": "allow", "enforced": entry["enforced"], "reason": "pin-match",
                          "matched": matched, "matchedIssuer": issuer}
        return answer | self.reported

    def _without_match(self, entry, at, reason):
        """What follows where no pin matches, or where there is no path to match."""
        name = entry and entry["host"]
        if any(at < until and (domain is None or entry and domain == name) for domain, until in self.list.suspended):
            return {"verdict": "allow", "enforced": False, "reason": "suspended"}
        if not entry:
            verdict, why = {"allow": ("allow", "not-pinned"), "report": ("allow", "unlisted-reported"),
                            "deny": ("block", "unlisted-denied")}[self.list.unlisted]
            return {"verdict": verdict, "enforced": verdict == "block", "reason": why}
        if entry["expires"] is not None and at >= entry["expires"]:
            return {"verdict": "allow", "enforced": False, "reason": "domain-expired"}
        if entry["mode"] == "off":
            return {"verdict": "allow", "enforced": False, "reason": "not-pinned"}
        return {"verdict": "block" if entry["enforced"] else "allow", "enforced": entry["enforced"], "reason": reason}
