// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The schemas of bodies in ``OpenAPIDocument``. Reports are described as tolerantly as they are read: three kinds of
/// senders write them, and what one of them spells another way is no error.
enum OpenAPISchemas {
    /// The members of `components.schemas`.
    static let text = """
        "Problem": {"type": "object", "required": ["type", "title", "status", "code", "detail"], "properties": {
             "type": {"const": "about:blank"}, "title": {"type": "string", "minLength": 1},
             "status": {"type": "integer", "minimum": 400, "maximum": 599},
             "code": {"type": "string", "pattern": "^[a-z0-9-]+$"}, "detail": {"type": "string", "minLength": 1}}},
            "State": {"type": "object", "required": ["status"], "properties": {"status": {"enum": ["alive", "ready"]}}},
            "Envelope": {"type": "object", "required": ["payloadType", "payload", "signatures"], "properties": {
             "payloadType": {"type": "string"}, "payload": {"type": "string"},
             "signatures": {"type": "array", "maxItems": 32, "items": {"type": "object", "required": ["sig"],
              "properties": {"keyid": {"type": "string"}, "sig": {"type": "string"}}}}}},
            "Publication": {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Envelope"}},
            "Published": {"type": "object", "required": ["name", "changes"], "properties": {
             "name": {"type": "string"}, "changes": {"type": "array", "items": {"type": "string"}}}},
            "ProbeResult": {"type": "object", "required": ["hosts"], "properties": {
             "at": {"description": "The time, RFC 3339; by default now."},
             "hosts": {"type": "array", "maxItems": 10000, "items": {"type": "object", "required": ["host", "ok"],
              "properties": {"host": {"type": "string"}, "ok": {"type": "boolean"}}}}}},
            "Adoption": {"type": "object",
             "required": ["name", "at", "state", "period", "requests", "versions", "unknown"], "properties": {
              "name": {"type": "string"}, "at": {"$ref": "#/components/schemas/Time"},
              "state": {"enum": ["measured", "not-measured"]}, "why": {"type": "string"},
              "period": {"type": "integer", "minimum": 86400}, "requests": {"type": "integer", "minimum": 0},
              "versions": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1}},
              "unknown": {"type": "integer", "minimum": 0}}},
            \(Self.sightings),
            \(Self.alarms),
            \(Self.gate),
            \(Self.rotation),
            \(Self.reports),
            \(Self.status)
        """

    private static let sightings = """
        "Base64": {"type": "string", "minLength": 4, "maxLength": 87384, "pattern": "^[A-Za-z0-9+/]+={0,2}$"},
            "SightingState": {"enum": ["pinned", "backup", "issuer", "denied", "unknown", "unlisted"]},
            "Sightings": {"type": "object", "required": ["certificates"], "properties": {
             "certificates": {"type": "array", "maxItems": 64, "items": {"type": "object", "required": ["der"],
              "properties": {
               "der": {"$ref": "#/components/schemas/Base64",
                "description": "A certificate or a precertificate, DER."},
               "chain": {"type": "array", "maxItems": 16, "items": {"$ref": "#/components/schemas/Base64"},
                "description": "Those above it, the issuer's first."},
               "log": {"type": "string", "maxLength": 512},
               "loggedAt": {"$ref": "#/components/schemas/Time"}}}}}},
            "EvaluatedSightings": {"type": "object", "required": ["certificates"], "properties": {
             "certificates": {"type": "array", "maxItems": 64, "items": {"type": "object",
              "required": ["identity", "state"], "properties": {
               "identity": {"$ref": "#/components/schemas/Digest"},
               "state": {"$ref": "#/components/schemas/SightingState"}}}}}},
            "KeptSightings": {"type": "object", "required": ["name", "certificates"], "properties": {
             "name": {"type": "string"}, "next": {"$ref": "#/components/schemas/Digest"},
             "certificates": {"type": "array", "maxItems": 64, "items": {"type": "object",
              "required": ["identity", "state", "names", "key", "serial", "issuer", "notBefore", "notAfter",
               "isPrecertificate", "der"], "properties": {
               "identity": {"$ref": "#/components/schemas/Digest"},
               "state": {"$ref": "#/components/schemas/SightingState"},
               "names": {"type": "array", "items": {"type": "string"}}, "key": {"type": "string"},
               "serial": {"type": "string"}, "issuer": {"type": "string"},
               "notBefore": {"$ref": "#/components/schemas/Time"}, "notAfter": {"$ref": "#/components/schemas/Time"},
               "isPrecertificate": {"type": "boolean"}, "der": {"$ref": "#/components/schemas/Base64"},
               "issuerDER": {"$ref": "#/components/schemas/Base64",
                "description": "A certificate of the issuer's key; absent where none was told."}}}}}}
        """

    private static let alarms = """
        "Severity": {"enum": ["notice", "warning", "critical"]},
            "Alarms": {"type": "object", "required": ["alarms", "silences"], "properties": {
             "alarms": {"type": "array", "items": {"type": "object",
              "required": ["key", "kind", "subject", "severity", "since", "detail"], "properties": {
               "severity": {"$ref": "#/components/schemas/Severity"}, "since": {"$ref": "#/components/schemas/Time"},
               "action": {"type": "string"}, "runbook": {"type": "string"},
               "acknowledgedBy": {"type": "string"}, "acknowledgedAt": {"$ref": "#/components/schemas/Time"},
               "silencedUntil": {"$ref": "#/components/schemas/Time"}}}},
             "silences": {"type": "array", "items": {"type": "object",
              "required": ["what", "upTo", "until", "by", "because"], "properties": {
               "upTo": {"$ref": "#/components/schemas/Severity"}, "until": {"$ref": "#/components/schemas/Time"}}}}}},
            "Acknowledge": {"type": "object", "additionalProperties": false, "required": ["key"], "properties": {
             "key": {"type": "string", "minLength": 1, "description": "Of an alarm that fires."}}},
            "Silence": {"type": "object", "additionalProperties": false, "required": ["what", "seconds", "because"],
             "properties": {
              "what": {"type": "string", "minLength": 1, "description": "The key of an alarm that fires, or a kind."},
              "seconds": {"type": "integer", "minimum": 60, "maximum": 604800},
              "because": {"type": "string", "minLength": 1, "maxLength": 256},
              "upTo": {"$ref": "#/components/schemas/Severity"}}},
            "Unsilence": {"type": "object", "additionalProperties": false, "required": ["what"], "properties": {
             "what": {"type": "string", "minLength": 1}}}
        """

    private static let gate = """
        "GateRecord": {"type": "object", "additionalProperties": false,
             "required": ["host", "notedHostname", "verdict", "matched", "refusing", "reason", "certificate"],
             "properties": {
              "host": {"$ref": "#/components/schemas/Host"},
              "notedHostname": {"anyOf": [{"$ref": "#/components/schemas/Host"}, {"type": "null"}]},
              "verdict": {"enum": ["safe", "unsafe", "unknown"]},
              "matched": {"anyOf": [{"type": "null"}, {"type": "object", "additionalProperties": false,
               "required": ["pin", "position"], "properties": {"pin": {"$ref": "#/components/schemas/Pin"},
                "position": {"enum": ["any", "leaf", "issuer"]}}}]},
              "refusing": {"anyOf": [
               {"type": "object", "additionalProperties": false,
                "required": ["share", "measured", "period", "requests"],
                "properties": {"share": {"type": "number", "minimum": 0, "maximum": 1}, "measured": {"const": true},
                 "period": {"$ref": "#/components/schemas/Hours"}, "requests": {"$ref": "#/components/schemas/Count"}}},
               {"type": "object", "additionalProperties": false,
                "required": ["share", "measured", "period", "requests"],
                "properties": {"share": {"type": "null"}, "measured": {"const": false},
                 "period": {"$ref": "#/components/schemas/Hours"},
                 "requests": {"$ref": "#/components/schemas/Count"}}}]},
              "reason": {"type": "string", "maxLength": 1024},
              "certificate": {"$ref": "#/components/schemas/Digest"}}},
            "Host": {"type": "string", "minLength": 1, "maxLength": 253, "description": "A name or an address."},
            "Pin": {"type": "string", "minLength": 1, "maxLength": 128, "description": "sha256/ and base64."},
            "Hours": {"type": "string", "pattern": "^[1-9][0-9]{0,3}h$"},
            "Count": {"type": "integer", "minimum": 0, "maximum": 999999999999999}
        """

    private static let rotation = """
        "PlanLine": {"type": "string", "minLength": 1, "maxLength": 512},
            "RotationState": {"enum": ["planned", "announced", "ready", "switched", "retired", "aborted"]},
            "RotationKey": {"type": "object", "additionalProperties": false, "required": ["pin"], "properties": {
             "pin": {"$ref": "#/components/schemas/Pin"}, "position": {"enum": ["any", "leaf", "issuer"]},
             "kept": {"$ref": "#/components/schemas/PlanLine"},
             "heldBy": {"type": "array", "maxItems": 16, "items": {"$ref": "#/components/schemas/PlanLine"}}}},
            "RotationPlan": {"type": "object", "additionalProperties": false,
             "required": ["schema", "list", "host", "entries", "new", "old", "announceAt", "switchAt", "retireAt",
              "maxRefusing", "steps"],
             "properties": {
              "schema": {"const": 1}, "list": {"$ref": "#/components/schemas/PlanLine"},
              "host": {"$ref": "#/components/schemas/Host"},
              "entries": {"type": "array", "minItems": 1, "maxItems": 10000, "items":
               {"$ref": "#/components/schemas/Host"}},
              "pinSet": {"$ref": "#/components/schemas/PlanLine"}, "new": {"$ref": "#/components/schemas/RotationKey"},
              "old": {"type": "array", "minItems": 1, "maxItems": 16, "items":
               {"$ref": "#/components/schemas/RotationKey"}},
              "announceAt": {"$ref": "#/components/schemas/Time"}, "switchAt": {"$ref": "#/components/schemas/Time"},
              "retireAt": {"$ref": "#/components/schemas/Time"},
              "maxRefusing": {"type": "string", "pattern": "^[0-9]{1,3}([.][0-9]{1,3})?%$"},
              "steps": {"type": "array", "minItems": 1, "maxItems": 512, "items": {"type": "object",
               "additionalProperties": false, "required": ["state", "at"], "properties": {
                "state": {"$ref": "#/components/schemas/RotationState"}, "at": {"$ref": "#/components/schemas/Time"},
                "version": {"type": "integer", "minimum": 1}, "forced": {"$ref": "#/components/schemas/PlanLine"},
                "reason": {"$ref": "#/components/schemas/PlanLine"}}}},
              "sightings": {"type": "object", "additionalProperties": false, "required": ["at"], "properties": {
               "at": {"$ref": "#/components/schemas/Time"}, "newEverywhereSince": {"$ref": "#/components/schemas/Time"},
               "oldNowhereSince": {"$ref": "#/components/schemas/Time"}}}}},
            "Rotations": {"type": "object", "required": ["name", "rotations"], "properties": {
             "name": {"type": "string"},
             "rotations": {"type": "array", "items": {"type": "object", "required": ["host", "digest", "storedAt"],
              "properties": {"host": {"type": "string"}, "digest": {"$ref": "#/components/schemas/Digest"},
               "storedAt": {"$ref": "#/components/schemas/Time"},
               "state": {"$ref": "#/components/schemas/RotationState"}, "since": {"$ref": "#/components/schemas/Time"},
               "announceAt": {"$ref": "#/components/schemas/Time"}, "switchAt": {"$ref": "#/components/schemas/Time"},
               "retireAt": {"$ref": "#/components/schemas/Time"}}}}}}
        """

    private static let reports = """
        "Text": {"description": "A text of at most 4,096 bytes; a number is read as its digits.",
             "anyOf": [{"type": "string", "maxLength": 4096}, {"type": "number"}]},
            "Line": {"anyOf": [{"$ref": "#/components/schemas/Text"}, {"type": "null"}]},
            "Lines": {"anyOf": [{"type": "array", "maxItems": 8192, "items": {"type": "string"}}, {"type": "null"}]},
            "Flag": {"anyOf": [{"enum": [true, false, "true", "false", "YES", "NO", "0", "1", null]},
             {"type": "number", "minimum": 0, "exclusiveMaximum": 2}]},
            "Report": {"description": "RFC 7469, section 3, and TrustKit's members; a refused list has no host.",
             "type": "object", "anyOf": [
              {"required": ["hostname"], "properties": {"hostname": {"$ref": "#/components/schemas/Text"}}},
              {"required": ["noted-hostname"], "properties": {"noted-hostname": {"$ref": "#/components/schemas/Text"}}},
              {"required": ["tumbler"], "properties": {"tumbler": {"type": "object", "required": ["reason"],
               "properties": {"reason": {"$ref": "#/components/schemas/Text"}}}}}],
             "properties": {
              "date-time": {"$ref": "#/components/schemas/Line"}, "hostname": {"$ref": "#/components/schemas/Line"},
              "noted-hostname": {"$ref": "#/components/schemas/Line"},
              "port": {"anyOf": [{"type": "number", "minimum": 0, "maximum": 65535},
               {"type": "string", "pattern": "^[0-9]{1,4}$"}, {"type": "null"}]},
              "include-subdomains": {"$ref": "#/components/schemas/Flag"},
              "enforce-pinning": {"$ref": "#/components/schemas/Flag"},
              "effective-expiration-date": {"$ref": "#/components/schemas/Line"},
              "served-certificate-chain": {"$ref": "#/components/schemas/Lines"},
              "validated-certificate-chain": {"$ref": "#/components/schemas/Lines"},
              "known-pins": {"anyOf": [{"type": "array", "maxItems": 64, "items": {"type": "string"}},
               {"type": "null"}]},
              "app-bundle-id": {"$ref": "#/components/schemas/Line"},
              "app-version": {"$ref": "#/components/schemas/Line"},
              "app-platform": {"$ref": "#/components/schemas/Line"},
              "app-platform-version": {"$ref": "#/components/schemas/Line"},
              "validation-result": {"anyOf": [{"type": "number", "minimum": 0, "maximum": 5},
               {"type": "string", "pattern": "^[0-5]$"}, {"type": "null"}]},
              "tumbler": {"anyOf": [{"$ref": "#/components/schemas/ReportDetails"}, {"type": "null"}]}}},
            "ReportDetails": {"type": "object", "properties": {
             "list-name": {"$ref": "#/components/schemas/Line"}, "list-digest": {"$ref": "#/components/schemas/Line"},
             "list-version": {"anyOf": [{"type": "number", "minimum": 1, "maximum": 9007199254740991},
              {"type": "string", "pattern": "^[1-9][0-9]{0,14}$"}, {"type": "null"}]},
             "reason": {"$ref": "#/components/schemas/Line"},
             "signals": {"anyOf": [{"type": "array", "maxItems": 32, "items": {"type": "string"}}, {"type": "null"}]},
             "envelope": {"description": "The refused envelope in base64, of an incident alone."}}},
            "ReportingEntries": {"type": "array", "maxItems": 128, "items": {"type": "object",
             "required": ["type", "body"], "properties": {
              "type": {"$ref": "#/components/schemas/Text"}, "body": {"type": "object"},
              "age": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "pattern": "^[0-9]{1,18}$"},
               {"type": "null"}]}, "url": {}}}}
        """

    private static let status = """
        "Time": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"},
            "Digest": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
            "Status": {"type": "object",
             "required": ["time", "auditHead", "auditEntries", "names", "hosts", "groups", "alarms", "probes",
              "sightings"],
             "properties": {
              "time": {"$ref": "#/components/schemas/Time"}, "auditHead": {"$ref": "#/components/schemas/Digest"},
              "auditEntries": {"type": "integer", "minimum": 0},
              "names": {"type": "array", "items": {"type": "object", "required": ["name", "list", "root", "adoption"],
               "properties": {"name": {"type": "string"},
                "list": {"type": "object", "required": ["version", "digest", "publishedAt", "expiresAt"],
                 "properties": {
                 "version": {"type": "integer", "minimum": 1}, "digest": {"$ref": "#/components/schemas/Digest"},
                 "publishedAt": {"$ref": "#/components/schemas/Time"},
                 "expiresAt": {"$ref": "#/components/schemas/Time"}}},
                "root": {"type": "object", "required": ["version", "expiresAt"], "properties": {
                 "version": {"type": "integer", "minimum": 1}, "expiresAt": {"$ref": "#/components/schemas/Time"}}},
                "adoption": {"type": "object", "required": ["window", "state", "unverified"], "properties": {
                 "window": {"type": "integer", "minimum": 1}, "state": {"enum": ["measured", "not-measured"]},
                 "base": {"type": "integer", "minimum": 0},
                 "share": {"type": "object", "additionalProperties": {"type": "string",
                  "pattern": "^[01][.][0-9]{6}$"}},
                 "unverified": {"type": "array", "items": {"type": "object", "required": ["digest", "count"]}}}}}}},
              "hosts": {"type": "array", "items": {"type": "object",
               "required": ["host", "lastHour", "pinFailures", "usual"]}},
              "groups": {"type": "array", "maxItems": 20, "items": {"type": "object",
               "required": ["id", "host", "reason", "count", "lastAt", "cause", "kind"]}},
              "alarms": {"type": "array", "items": {"type": "object",
               "required": ["key", "kind", "severity", "since", "detail"],
               "properties": {"severity": {"enum": ["notice", "warning", "critical"]}}}},
              "probes": {"type": "array", "items": {"type": "object",
               "required": ["name", "host", "ok", "at", "detail"]}},
              "sightings": {"type": "array", "items": {"type": "object", "required": ["name", "counts", "unexpected"],
               "properties": {
                "counts": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
                "unexpected": {"type": "array", "maxItems": 20, "items": {"type": "object",
                 "required": ["identity", "host", "key", "issuer", "names", "toldAt", "toldBy", "validFrom",
                  "validTo"]}}}}},
              "database": {"type": "object",
               "required": ["at", "limit", "total", "reports", "lists", "auditLog", "other"], "properties": {
                "at": {"$ref": "#/components/schemas/Time"}, "counts": {"type": "integer", "minimum": 0}}}}}
        """
}
