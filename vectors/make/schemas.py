# SPDX-License-Identifier: CC0-1.0
"""Writes vectors/schema/*.schema.json, and checks the vectors against them (JSON Schema, 2020-12)."""
import json

import jsonschema_rs
from material import HERE

TEXT, NUMBER, FLAG, NULL = ({"type": kind} for kind in ("string", "integer", "boolean", "null"))
TIME = {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"}
HEX = {"type": "string", "pattern": "^([0-9a-f]{2})*$"}
PIN = {"type": "string", "pattern": "^(cert-)?sha256/[A-Za-z0-9+/]{43}=$"}
# A text, or the recipe of one.
LONG = {"$ref": "#/$defs/text"}
CHAIN = {"type": "array", "items": LONG}
CODE = {"enum": ["too-large", "malformed", "wrong-type", "unsigned", "threshold-not-met", "wrong-name", "root-gap", "rollback",
                 "equivocation", "issued-in-future", "expired"]}
REASON = {"enum": ["pin-match", "no-matching-pin", "host-invalid", "denied-key", "denied-undecidable", "suspended", "not-pinned",
                   "unlisted-reported", "unlisted-denied", "domain-expired", "chain-invalid", "no-certificates", "over-budget",
                   "cleartext", "other-host-connection", "tampering", "revoked", "revocation-unknown", "transparency"]}
STATUS = {"enum": ["malformed", "unknown-log", "unsupported", "invalid-signature", "in-the-future", "outside-interval",
                   "log-rejected", "valid"]}
POLICY = {"enum": ["chrome", "apple"]}
DEFS = {"text": {"oneOf": [
    TEXT, {"type": "object", "required": ["$join"], "additionalProperties": False,
           "properties": {"$join": {"type": "array", "items": LONG}}},
    {"type": "object", "required": ["$repeat", "times"], "additionalProperties": False,
     "properties": {"$repeat": TEXT, "times": NUMBER, "between": TEXT}},
    {"type": "object", "required": ["$base64"], "additionalProperties": False, "properties": {"$base64": LONG}}]}}


def table(required, optional=None):
    return {"type": "object", "additionalProperties": False, "required": sorted(required),
            "properties": required | (optional or {})}


def either(*kinds):
    return {"anyOf": list(kinds)}


def question(name, required, optional=None):
    return table({"do": {"const": name}} | required, optional)


def refused(*codes):
    return table({"refused": {"enum": list(codes)}})


PATH_REFUSED = refused("chain-invalid", "no-certificates", "host-invalid", "over-budget", "revoked", "revocation-unknown",
                       "malformed")
MATCH = either(NULL, table({"pin": PIN, "index": NUMBER}))
JUDGEMENT = table({"policy": POLICY, "satisfied": FLAG, "scts": {"type": "array", "items": table(
    {"status": STATUS}, {"log": TEXT, "operator": TEXT, "timestamp": TIME})}})
REVOKED = table({"issuer": PIN, "serial": HEX, "index": NUMBER})
DECISION = table({
    "host": TEXT, "notedHostname": either(TEXT, NULL), "verdict": {"enum": ["allow", "block"]}, "enforced": FLAG,
    "reason": REASON, "matched": MATCH, "matchedIssuer": MATCH, "path": {"type": "array", "items": either(PIN, NULL)},
    "list": table({"name": TEXT, "version": NUMBER, "stale": FLAG})}, {"denied": MATCH, "revoked": REVOKED, "transparency": JUDGEMENT})
DECIDED = ({"list": LONG, "host": TEXT, "at": TIME}, {
    "path": CHAIN, "logs": LONG, "installation": HEX, "whenStale": {"enum": ["enforce", "report", "deny"]}, "tampering": {"const": True},
    "transport": {"enum": ["chain-invalid", "no-certificates", "over-budget", "revoked", "revocation-unknown", "cleartext",
                           "other-host-connection"]}})
APP = table({name: TEXT for name in ("bundleID", "version", "platform", "platformVersion")}, {"vendorID": TEXT})
FAILURE = (DECIDED[0] | {"served": CHAIN, "port": NUMBER, "app": APP, "signals": {"type": "array", "items": TEXT},
                         "webView": FLAG, "digest": HEX}, DECIDED[1])
REPORT = table({"report": either(NULL, table({"to": {"type": "array", "items": TEXT}, "body": {"type": "object"}}))})
HELD = table({"version": NUMBER, "status": {"enum": ["current", "superseded"]}, "source": {"enum": ["bundled", "outside"]},
              "digest": HEX}, {"stale": FLAG})
STEP = table({"result": {"enum": ["newer", "unchanged", "resigned", "signature-lost", "loaded", "refused"]}, "root": NUMBER,
              "inForce": either(NULL, HELD)}, {"code": CODE, "of": {"enum": ["root", "pins"]}})
FILES = {
    "pins": ([question("pin-of-certificate", {"certificate": LONG}),
              question("read-pin", {"form": {"enum": ["list", "any"]}, "text": TEXT})],
             [table({"pin": PIN}, {"certificatePin": PIN}), refused("unreadable", "no-pin")]),
    "hosts": ([question("normalise", {"host": TEXT}),
               question("note", {"host": TEXT, "entries": {"type": "array", "items": table(
                   {"domain": TEXT, "includeSubdomains": FLAG})}})],
              [table({"host": TEXT}), table({"address": HEX}), table({"noted": either(TEXT, NULL)}), refused("host-invalid")]),
    "lists": ([question("follow", {"root": LONG, "steps": {"type": "array", "items": table(
        {}, {"at": TIME, "root": LONG, "list": LONG})}}, {"list": LONG, "buildDate": TIME, "mark": table(
            {"name": TEXT, "version": NUMBER, "keyids": {"type": "array", "items": HEX}})})],
        [table({"inForce": either(NULL, HELD), "steps": {"type": "array", "items": STEP}}),
         table({"refused": table({"what": {"enum": ["root", "pins"]}, "code": CODE})})]),
    "decisions": ([question("decide", *DECIDED)], [DECISION]),
    "paths": ([question("validate-path", {"chain": CHAIN, "roots": CHAIN, "host": TEXT, "at": TIME},
                       {"crls": CHAIN, "revocation": {"enum": ["if-known", "required"]}})],
              [table({"path": {"type": "array", "items": PIN}}), PATH_REFUSED]),
    "transparency": ([question("judge-transparency", {"path": CHAIN, "logs": LONG, "policy": POLICY, "at": TIME})],
                     [JUDGEMENT, refused("malformed")]),
    "nspinneddomains": ([question("nspinneddomains", {"configuration": {"type": "object"}, "host": TEXT, "path": CHAIN})],
                        [table({"pinned": FLAG, "accepted": FLAG})]),
    "rollout": ([question("place", {"installation": HEX, "name": TEXT, "domain": TEXT}),
                 question("enforces", {"name": TEXT, "domain": TEXT, "rollout": NUMBER}, {"installation": HEX}),
                 question("sampled", {"name": TEXT, "at": TIME, "perMillion": NUMBER}, {"installation": HEX, "domain": TEXT})],
                [table({"place": NUMBER}), table({"enforces": FLAG}), table({"reports": FLAG})]),
    "reports": ([question("report", *FAILURE),
                 question("incident", {"list": LONG, "at": TIME, "app": APP, "digest": HEX, "code": either(
                     CODE, {"const": "stale"})}, {"envelope": TEXT}),
                 question("identical", {"failures": {"type": "array", "minItems": 2, "maxItems": 2, "items": table(
                     FAILURE[0], FAILURE[1] | {"do": {"const": "report"}})}})],
                [REPORT, table({"identical": FLAG})]),
}


def told(value, name):
    """All values of a member, wherever it stands in what was written."""
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    found = {value[name]} if isinstance(value, dict) and isinstance(value.get(name), str) else set()
    return found.union(*(told(part, name) for part in parts))


def check_that_each_is_told(written):
    """Each reason of a decision, each code of a refusal and each status of a timestamp is the answer to some case."""
    answers = {name: [case["answer"] for case in value["cases"]] for name, value in written.items()}
    # A budget is each client's own.
    paths = {"enum": sorted(set(PATH_REFUSED["properties"]["refused"]["enum"]) - {"over-budget"})}
    for name, member, wanted in (("decisions", "reason", REASON), ("lists", "code", CODE), ("transparency", "status", STATUS),
                                 ("paths", "refused", paths)):
        if missing := set(wanted["enum"]) - told(answers[name], member):
            raise SystemExit(f"{name}.json: no case with the {member} {', '.join(sorted(missing))}")


def main():
    everything = {}
    for name, (questions, answers) in FILES.items():
        case = table({"id": {"type": "string", "pattern": f"^{name}/[a-z0-9.-]+$"}, "why": TEXT, "source": TEXT,
                      "question": either(*questions), "answer": either(*answers)})
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"vectors/{name}.json", "$defs": DEFS,
                  **table({"vectors": {"const": name}, "schema": {"const": 1}, "license": {"const": "CC0-1.0"}, "about": TEXT,
                           "cases": {"type": "array", "minItems": 1, "items": case}})}
        (HERE.parent / "schema" / f"{name}.schema.json").write_text(json.dumps(schema, indent=1) + "\n")
        written = everything[name] = json.loads((HERE.parent / f"{name}.json").read_text())
        for error in jsonschema_rs.validator_for(schema).iter_errors(written):
            where = list(error.instance_path)
            raise SystemExit(f"{name}.json: {where}: {written['cases'][where[1]]['id'] if len(where) > 1 else ''}: {str(error)[:600]}")
    check_that_each_is_told(everything)
    print("every file holds to its schema")


if __name__ == "__main__":
    main()
