# SPDX-License-Identifier: CC0-1.0
"""Roots, lists and the stories that they are offered in."""
import base64
import json

import recipes
from material import Case, Signer, digest, envelope, pin

NAME = "com.example.app"
NOW = "2026-01-10T00:00:00Z"
PIN = pin(b"a key")
BACKUP = pin(b"a backup")
ROOT_KEY, PINS_KEY, OTHER_KEY, THIRD_KEY = (Signer(name) for name in ("root", "pins", "other", "third"))
P256_KEY = Signer("p256", "ecdsa-p256-sha256")
ML_KEY = Signer("ml-dsa", "ml-dsa-65")


def role(keys, threshold=1, hybrid=None):
    """A role of keys; `hybrid` is (keys, threshold)."""
    value = {"keyids": [key.id for key in keys], "threshold": threshold}
    if hybrid:
        value["hybrid"] = role(*hybrid)
    return value


def root_payload(version=1, root=(ROOT_KEY,), pins=(PINS_KEY,), root_threshold=1, pins_threshold=1, root_hybrid=None,
                 pins_hybrid=None, also=(), **members):
    """The payload of a root."""
    keys = [*root, *pins, *also, *(root_hybrid or ((),))[0], *(pins_hybrid or ((),))[0]]
    value = {"type": "root", "specVersion": "1.0", "name": NAME, "version": version, "issuedAt": "2025-12-01T00:00:00Z",
             "expiresAt": "2028-12-01T00:00:00Z", "keys": {key.id: key.entry for key in keys},
             "roles": {"root": role(root, root_threshold, root_hybrid), "pins": role(pins, pins_threshold, pins_hybrid)}}
    return _with(value, members)


def _with(value, members):
    value |= members
    return {name: part for name, part in value.items() if part is not None}


def root(version=1, signers=(ROOT_KEY,), extra=(), **members):
    """A signed root."""
    return envelope(root_payload(version, **members), signers, "root", extra=extra)


def list_payload(version=7, **members):
    """The payload of a list."""
    value = {"type": "pins", "specVersion": "1.0", "name": NAME, "version": version, "issuedAt": "2026-01-01T00:00:00Z",
             "expiresAt": "2026-03-01T00:00:00Z",
             "domains": [{"domain": "api.example.com", "pins": [{"pin": PIN}, {"pin": BACKUP}]}]}
    return _with(value, members)


def pin_list(version=7, signers=(PINS_KEY,), extra=(), hints=None, **members):
    """A signed list."""
    return envelope(list_payload(version, **members), signers, extra=extra, hints=hints)


class Story:
    """A client and what it is offered, with what follows each time. What is not said stays as it was."""

    def __init__(self, name, why, source="formats.md, section 3.3", shipped=None, bundled=None, build=None, mark=None,
                 bundled_status="current"):
        self.name, self.why, self.source = name, why, source
        self.question = {"do": "follow", "root": shipped or root()}
        if bundled is not None:
            self.question["list"] = bundled
        if build:
            self.question["buildDate"] = build
        if mark:
            self.question["mark"] = mark
        self.question["steps"] = []
        self.force, self.version = None, 1
        if bundled is not None:
            self._note(bundled, bundled_status, "bundled")
        self.answer = {"inForce": self.force, "steps": []}

    def _note(self, held, status, source):
        text = recipes.expand(held)
        payload = json.loads(base64.b64decode(json.loads(text)["payload"]))
        self.force = {"version": payload["version"], "status": status, "source": source,
                      "digest": digest(text.encode())}

    def step(self, what, offered, result, at=NOW, force=None, root=None, stale=False, of=None):
        """One offer. `force` is (envelope, status, source) where that changes, or "none"."""
        self.question["steps"].append({what: offered} | ({"at": at} if at else {}))
        if force == "none":
            self.force = None
        elif force:
            self._note(*force)
        self.version = root or self.version
        answer = {"result": result} if result in ("newer", "unchanged", "resigned", "signature-lost", "loaded") else {
            "result": "refused", "code": result}
        if of:
            answer["of"] = of
        shown = self.force if self.force is None or not at else self.force | {"stale": stale}
        self.answer["steps"].append(answer | {"root": self.version, "inForce": shown})
        return self

    def list(self, offered, result="newer", **more):
        """A list from outside; one that is taken is in force unless it is said otherwise."""
        if result in ("newer", "resigned"):
            more.setdefault("force", (offered, "current", "outside"))
        return self.step("list", offered, result, **more)

    def root(self, offered, result="newer", **more):
        """A root from outside."""
        if result == "newer":
            more.setdefault("root", self.version + 1)
        return self.step("root", offered, result, **more)

    def case(self):
        return Case(f"lists/{self.name}", self.why, self.source, self.question, self.answer)


def unloadable(name, why, what, code, shipped=None, bundled=None, source="formats.md, section 3"):
    """A client that cannot be made of what an app ships."""
    question = {"do": "follow", "root": shipped or root(), "steps": []} | ({"list": bundled} if bundled is not None else {})
    return Case(f"lists/{name}", why, source, question, {"refused": {"what": what, "code": code}})
