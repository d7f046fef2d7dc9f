# SPDX-License-Identifier: CC0-1.0
"""Decisions where an entry asks for a policy of Certificate Transparency."""
import decisions_vectors as d
from decisions_vectors import STRANGER, case, entry, said
from material import Certificate
from transparency_material import AT, MIDDLE, ROOT, Log, Stamp, log_list, logged

SOURCE = "formats.md, sections 3.2, 4 and 4.2"
A, B = Log("a1"), Log("b1", "Beta")
LOGS = log_list(A, B)
RULE = {"mode": "enforce", "policy": "chrome"}
GOOD = [Stamp(A), Stamp(B)]
LEAF = logged("decisions logged", GOOD)
BARE = Certificate("decisions not logged", MIDDLE, ["api.example.com"])
ALONE = logged("decisions logged once", GOOD[:1])


def asked(domains, leaf=LEAF, logs=LOGS, extra=None, **more):
    more.setdefault("path", (leaf, MIDDLE, ROOT))
    return d.asked(domains, extra=({"logs": logs} if logs else {}) | (extra or {}), **more)


def pinned(mode="enforce", policy="chrome", leaf=LEAF, pin=None, **members):
    return [entry(pin or leaf.pin, transparency={"mode": mode, "policy": policy}, **members)]


def answer(verdict, reason, enforced, leaf=LEAF, stamps=GOOD, satisfied=True, policy="chrome", judged=True, matched=True, **more):
    value = said(verdict, reason, enforced, path=(leaf, MIDDLE, ROOT), matched=(leaf.pin, 0) if matched else None, **more)
    return value | ({"transparency": {"policy": policy, "satisfied": satisfied, "scts": [one.expected for one in stamps]}}
                    if judged else {})


def cases():
    for one in judged():
        yield case(*one, source=SOURCE)


def judged():
    for policy in ("chrome", "apple"):
        yield f"transparency-{policy}", "a policy that is satisfied changes no verdict", asked(pinned(policy=policy)), answer(
            "allow", "pin-match", True, policy=policy)
    missing = answer("block", "transparency", True, BARE, [], False)
    yield "transparency-not-logged", "the pins match, and the certificate was never logged", asked(
        pinned(leaf=BARE), BARE), missing
    yield "transparency-one-log", "and not as often as the policy asks", asked(pinned(leaf=ALONE), ALONE), answer(
        "block", "transparency", True, ALONE, GOOD[:1], False)
    allowed = answer("allow", "transparency", True, BARE, [], False)
    yield "transparency-report", "mode report allows it, and says why", asked(pinned("report", leaf=BARE), BARE), allowed
    for name, members in [("mode-report", {"mode": "report"}), ("outside-rollout", {"rollout": 0})]:
        yield f"transparency-entry-{name}", "an entry that enforces nothing enforces no policy", asked(
            [entry(BARE.pin, transparency=RULE, **members)], BARE), allowed | {"enforced": False}
    for name, why, rule in [("off", "mode off asks for nothing", {"mode": "off"}),
                            ("mode-unknown", "an unknown mode judges nothing", {"mode": "warn", "policy": "chrome"}),
                            ("policy-unknown", "an unknown policy judges nothing", {"mode": "enforce", "policy": "chrome-2027"}),
                            ("without-members", "a rule without a mode asks for nothing", {})]:
        yield f"transparency-{name}", why, asked([entry(BARE.pin, transparency=rule)], BARE), answer(
            "allow", "pin-match", True, BARE, judged=False)
    passed = answer("allow", "pin-match", True, BARE, judged=False)
    yield "transparency-no-log-list", "without a log list in force nothing is judged", asked(pinned(leaf=BARE), BARE, None), passed
    for name, why, timestamp in [("stale", "a log list of over 70 days enforces nothing", "2025-10-31T23:59:59Z"),
                                 ("undated", "nor does one that does not say when it was made", None)]:
        yield f"transparency-log-list-{name}", why, asked(
            pinned(leaf=BARE), BARE, log_list(A, B, timestamp=timestamp)), passed
    yield "transparency-log-list-of-70-days", "one of 70 days does", asked(
        pinned(leaf=BARE), BARE, log_list(A, B, timestamp="2025-11-01T00:00:00Z")), missing
    yield "transparency-mismatch", "where no pin matches no policy is asked", asked(pinned(leaf=BARE, pin=STRANGER), BARE), answer(
        "block", "no-matching-pin", True, BARE, judged=False, matched=False)
    stop = [{"domain": "*", "until": "2026-01-05T00:00:00Z", "reason": "x"}]
    at = "2026-01-02T00:00:00Z"
    yield "transparency-suspended", "a suspension relaxes the policy, too", asked(
        pinned(leaf=BARE), BARE, at=at, suspended=stop), answer(
            "allow", "suspended", False, BARE, judged=False, matched=False)
    yield "transparency-unlisted", "a policy is its entry's", asked(pinned(leaf=BARE), BARE, host="other.example"), answer(
        "allow", "not-pinned", False, BARE, judged=False, matched=False, noted=None, host="other.example")
    yield "transparency-denied", "what is denied is refused as that", asked(pinned(leaf=BARE), BARE, denied=[BARE.pin]), answer(
        "block", "denied-key", True, BARE, judged=False, matched=False, denied=(BARE.pin, 0))
    yield "transparency-clock-set-back", "timestamps are judged by the later of the clock and the list's issue", asked(
        pinned(), at="2020-01-01T00:00:00Z", issuedAt=AT), answer("allow", "pin-match", True)
    yield "transparency-response", "the answer that came over another host's connection is judged by this host's entry", asked(
        pinned(leaf=BARE), BARE, extra={"transport": "other-host-connection"}), missing
    yield "transparency-tampering", "the app refuses pinned connections, whatever the policy only reports", asked(
        pinned("report", leaf=BARE), BARE, extra={"tampering": True}), answer(
            "block", "tampering", True, BARE, judged=False, matched=False)
