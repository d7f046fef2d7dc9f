# SPDX-License-Identifier: CC0-1.0
"""The reference: questions on standard input, answers on standard output, one JSON object a line (docs/another-language.md).

It is written from docs/formats.md, with Python's standard library and `cryptography`, and shares no code with Tumbler. It is
for comparing: it is neither fast nor does it guard against what a hostile certificate costs."""
import base64
import hashlib
import json
import sys

import decisions
import hosts
import metadata
import nspinneddomains
import paths
import pins
import reports
import revocation
import rollout
import times
import transparency
import trust
from strictjson import Malformed


def _bytes(text):
    return base64.b64decode(text, validate=True)


def _installation(question):
    text = question.get("installation")
    return None if text is None else bytes.fromhex(text)


def pin_of_certificate(question):
    certificate = _bytes(question["certificate"])
    try:
        return {"pin": pins.of_certificate(certificate), "certificatePin": pins.certificate_pin(certificate)}
    except pins.Unreadable:
        return {"refused": "unreadable"}


def read_pin(question):
    try:
        pin = (pins.listed if question["form"] == "list" else pins.typed)(question["text"])
    except Malformed:
        pin = None
    return {"pin": pin} if pin else {"refused": "no-pin"}


def normalise(question):
    try:
        name = hosts.normalise(question["host"])
    except hosts.HostInvalid:
        return {"refused": "host-invalid"}
    return {"address": name.hex()} if isinstance(name, bytes) else {"host": name}


def note(question):
    try:
        entries = [{"host": hosts.normalise(one["domain"]), **one} for one in question["entries"]]
        found = hosts.noted(entries, hosts.normalise(question["host"]))
    except hosts.HostInvalid:
        return {"refused": "host-invalid"}
    return {"noted": found and found["domain"]}


def _outcome(state, step):
    clock = times.read(step["at"]) if "at" in step else None
    try:
        if "root" in step:
            result = {"result": state.offer_root(step["root"].encode(), clock)}
        elif clock is None:
            result = {"result": state.load_list(step["list"].encode())}
        else:
            result = {"result": state.offer_list(step["list"].encode(), clock)}
    except metadata.Refusal as refusal:
        result = {"result": "refused", "code": refusal.code}
        if refusal.of:
            result["of"] = refusal.of
    return result | {"root": state.newest.version, "inForce": _in_force(state, clock)}


def _in_force(state, clock):
    force = state.in_force()
    if not force:
        return None
    held, status, source = force
    answer = {"version": held.list.version, "status": status, "source": source,
              "digest": hashlib.sha256(held.envelope.data).hexdigest()}
    return answer | ({} if clock is None else {"stale": state.stale(clock)})


def follow(question):
    bundled, build = question.get("list"), question.get("buildDate")
    try:
        state = trust.Trust(
            question["root"].encode(), bundled and bundled.encode(), build and times.read(build), question.get("mark"))
    except metadata.Refusal as refusal:
        return {"refused": {"what": refusal.what, "code": refusal.code}}
    return {"inForce": _in_force(state, None), "steps": [_outcome(state, step) for step in question["steps"]]}


def _decided(question):
    """The policy, the path, the decision and the time."""
    pin_list = metadata.PinList(question["list"].encode())
    clock = times.read(question["at"])
    reference = max(clock, pin_list.issued)
    logs = transparency.LogList(question["logs"].encode()) if "logs" in question else None
    policy = decisions.Policy(
        pin_list, _installation(question), pin_list.expires <= reference, question.get("whenStale", "enforce"), logs)
    path = question.get("path")
    path = None if path is None else [_bytes(one) for one in path]
    decision = policy.decide(
        question["host"], path, reference, question.get("transport"), question.get("tampering", False))
    return policy, path, decision, clock


def decide(question):
    return _decided(question)[2]


def report(question):
    policy, path, decision, clock = _decided(question)
    served = [_bytes(one) for one in question["served"]]
    return {"report": reports.failure(
        decision, policy, question["digest"], path, served, question["port"], question["app"],
        question["signals"], question["webView"], clock)}


def incident(question):
    pin_list = metadata.PinList(question["list"].encode())
    envelope = question.get("envelope")
    return {"report": reports.incident(
        pin_list, question["digest"], question["code"], envelope and _bytes(envelope), question["app"],
        times.read(question["at"]))}


def identical(question):
    both = []
    for one in question["failures"]:
        _, path, decision, _ = _decided(one)
        both.append(reports.identity(decision, path or [_bytes(der) for der in one["served"]], one["port"]))
    return {"identical": both[0] == both[1]}


def place(question):
    installation = _installation(question)
    return {"place": rollout.place(installation, question["name"], question["domain"])}


def enforces(question):
    return {"enforces": rollout.enforces(
        _installation(question), question["name"], question["domain"], question["rollout"])}


def sampled(question):
    return {"reports": rollout.reports(
        _installation(question), question["name"], question.get("domain") or "", times.read(question["at"]),
        question["perMillion"])}


def pinned_domains(question):
    return nspinneddomains.evaluate(
        question["configuration"], question["host"], [_bytes(key) for key in question["path"]])


def validate(question):
    lists = None
    if "crls" in question:
        try:
            lists = revocation.Lists([_bytes(one) for one in question["crls"]], question["revocation"])
        except ValueError:
            return {"refused": "malformed"}
    return paths.validate(
        [_bytes(one) for one in question["chain"]], [_bytes(one) for one in question["roots"]], question["host"],
        times.read(question["at"]), lists)


def judge_transparency(question):
    try:
        logs = transparency.LogList(question["logs"].encode())
    except Malformed:
        return {"refused": "malformed"}
    return transparency.judge(
        [_bytes(one) for one in question["path"]], logs, question["policy"], times.read(question["at"]))


OPERATIONS = {
    "pin-of-certificate": pin_of_certificate, "read-pin": read_pin, "normalise": normalise, "note": note,
    "follow": follow, "decide": decide, "report": report, "incident": incident, "identical": identical, "place": place,
    "enforces": enforces, "sampled": sampled, "nspinneddomains": pinned_domains, "validate-path": validate,
    "judge-transparency": judge_transparency,
}


def main():
    for line in sys.stdin:
        question = json.loads(line)
        operation = OPERATIONS.get(question["do"])
        answer = {"answer": operation(question)} if operation else {"unsupported": question["do"]}
        print(json.dumps({"id": question["id"], **answer}), flush=True)


if __name__ == "__main__":
    main()
