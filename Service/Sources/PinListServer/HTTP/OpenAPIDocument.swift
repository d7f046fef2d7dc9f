// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// `GET /v1/openapi.json`: the interface of formats.md, section 7, for programs (OpenAPI 3.1). Pages for people are not
/// in it. `scripts/check-openapi` holds the service against it.
enum OpenAPIDocument {
    /// The document.
    static let text = """
        {"openapi": "3.1.0",
         "info": {"title": "Tumbler", "version": "1.0", "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
          "description": "Signed pin lists, failure reports and what an operator asks. Errors are RFC 9457 problems."},
         "paths": {\(Self.lists), \(Self.reports), \(Self.attestation), \(Self.rotations), \(Self.alarms), \(Self.operators)},
         "components": {
          "securitySchemes": {"token": {"type": "http", "scheme": "bearer",
           "description": "Of tumbler token create. To look, none is needed on loopback where openOnLoopback is set."}},
          "parameters": {
           "name": {"name": "name", "in": "path", "required": true, "description": "The name of a list.",
            "example": "com.example.app",
            "schema": {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$"}},
           "held": {"name": "If-None-Match", "in": "header", "required": false,
            "description": "The entity tag of what the client holds: the hex SHA-256 of the bytes in quotes.",
            "schema": {"type": "string"}}},
          "headers": {
           "tag": {"description": "The hex SHA-256 of the bytes in quotes.", "required": true,
            "schema": {"type": "string", "pattern": "^\\"[0-9a-f]{64}\\"$"}},
           "retry": {"description": "Seconds.", "required": true, "schema": {"type": "string", "pattern": "^[0-9]+$"}}},
          "responses": {\(Self.responses)},
          "schemas": {\(OpenAPISchemas.text)}}}

        """

    private static let lists = """
        "/v1/lists/{name}/pins.json": {"parameters": [{"$ref": "#/components/parameters/name"}],
          "get": {"operationId": "getList", "summary": "The newest list of a name",
           "parameters": [{"$ref": "#/components/parameters/held"}], "responses": {\(Self.envelope)}}},
         "/v1/lists/{name}/root/{version}.json": {"parameters": [{"$ref": "#/components/parameters/name"},
           {"name": "version", "in": "path", "required": true, "example": 1,
            "schema": {"type": "integer", "minimum": 1}}],
          "get": {"operationId": "getRoot", "summary": "A root of a name; it never changes",
           "parameters": [{"$ref": "#/components/parameters/held"}], "responses": {\(Self.envelope)}}},
         "/v1/lists/{name}/logs/{file}": {"parameters": [{"$ref": "#/components/parameters/name"},
           {"name": "file", "in": "path", "required": true, "description": "The SHA-256 of the file, and .json.",
            "example": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855.json",
            "schema": {"type": "string", "pattern": "^[0-9a-f]{64}[.]json$"}}],
          "get": {"operationId": "getLogs", "summary": "A log list of Certificate Transparency; it never changes",
           "parameters": [{"$ref": "#/components/parameters/held"}], "responses": {
            "200": {"description": "The file.", "headers": {"ETag": {"$ref": "#/components/headers/tag"}},
             "content": {"application/json": {"schema": {"type": "object"}}}},
            "304": {"description": "The client holds it.", "headers": {"ETag": {"$ref": "#/components/headers/tag"}}},
            "400": {"$ref": "#/components/responses/problem"}, "404": {"$ref": "#/components/responses/problem"}}},
          "put": {"operationId": "putLogs", "summary": "Upload a log list, before the list that names it",
           "security": [{"token": []}],
           "requestBody": {"required": true, "content": {"application/json": {"schema": {"type": "object"}}}},
           "responses": {
            "200": {"description": "There already.", "headers": {"ETag": {"$ref": "#/components/headers/tag"}}},
            "201": {"description": "Stored.", "headers": {"ETag": {"$ref": "#/components/headers/tag"}}},
            "400": {"$ref": "#/components/responses/problem"}, "401": {"$ref": "#/components/responses/problem"},
            "403": {"$ref": "#/components/responses/problem"}, "413": {"$ref": "#/components/responses/problem"},
            "415": {"$ref": "#/components/responses/problem"}, "422": {"$ref": "#/components/responses/problem"},
            "429": {"$ref": "#/components/responses/later"}, "503": {"$ref": "#/components/responses/later"}}}},
         "/v1/lists/{name}": {"parameters": [{"$ref": "#/components/parameters/name"}],
          "put": {"operationId": "publish", "summary": "Publish roots, in order, then a list: all or none",
           "security": [{"token": []}],
           "requestBody": {"required": true, "content": {"application/json": {"schema":
            {"$ref": "#/components/schemas/Publication"}}}},
           "responses": {
            "200": {"description": "Published, or there already.", "content": {"application/json": {"schema":
             {"$ref": "#/components/schemas/Published"}}}},
            "400": {"$ref": "#/components/responses/problem"}, "401": {"$ref": "#/components/responses/problem"},
            "403": {"$ref": "#/components/responses/problem"}, "409": {"$ref": "#/components/responses/problem"},
            "413": {"$ref": "#/components/responses/problem"}, "415": {"$ref": "#/components/responses/problem"},
            "422": {"$ref": "#/components/responses/problem"}, "503": {"$ref": "#/components/responses/later"}}}}
        """

    private static let envelope = """
        "200": {"description": "The signed bytes.", "headers": {"ETag": {"$ref": "#/components/headers/tag"}},
             "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Envelope"}}}},
            "304": {"description": "The client holds it.", "headers": {"ETag": {"$ref": "#/components/headers/tag"}}},
            "400": {"$ref": "#/components/responses/problem"}, "404": {"$ref": "#/components/responses/problem"}
        """

    private static let attestation = """
        "/v1/attest/challenges": {"post": {"operationId": "challenge",
          "summary": "A challenge for App Attest; there where a list asks for attestations",
          "responses": {"201": {"description": "Valid for ten minutes.", "content": {"application/json": {"schema":
            {"type": "object", "required": ["challenge", "expiresAt"], "properties": {
             "challenge": {"type": "string", "contentEncoding": "base64"},
             "expiresAt": {"$ref": "#/components/schemas/Time"}}}}}},
           "404": {"$ref": "#/components/responses/problem"}, "429": {"$ref": "#/components/responses/later"},
           "503": {"$ref": "#/components/responses/later"}}}},
         "/v1/attest/keys": {"post": {"operationId": "registerKey",
          "summary": "Register the key of an installation, once",
          "requestBody": {"required": true, "content": {"application/json": {"schema":
           {"type": "object", "required": ["name", "keyId", "challenge", "attestation"], "properties": {
            "name": {"type": "string"}, "keyId": {"type": "string", "contentEncoding": "base64"},
            "challenge": {"type": "string", "contentEncoding": "base64"},
            "attestation": {"type": "string", "contentEncoding": "base64"}}}}}},
          "responses": {"200": {"description": "Registered before, with this attestation."},
           "201": {"description": "Registered."}, "400": {"$ref": "#/components/responses/problem"},
           "403": {"description": "Refused; the member step says at which step of Apple's guide.",
            "content": {"application/problem+json": {"schema": {"type": "object"}}}},
           "404": {"$ref": "#/components/responses/problem"}, "413": {"$ref": "#/components/responses/problem"},
           "415": {"$ref": "#/components/responses/problem"}, "429": {"$ref": "#/components/responses/later"},
           "503": {"$ref": "#/components/responses/later"}}}}
        """

    private static let reports = """
        "/v1/reports": {"post": {"operationId": "report",
          "summary": "Report a failed validation, or a list that was refused",
          "requestBody": {"required": true, "content": {
           "application/json": {"schema": {"anyOf": [{"$ref": "#/components/schemas/Report"},
            {"$ref": "#/components/schemas/ReportingEntries"}]}},
           "application/reports+json": {"schema": {"$ref": "#/components/schemas/ReportingEntries"}}}},
          "responses": {"202": {"description": "Stored."},
           "400": {"$ref": "#/components/responses/problem"}, "413": {"$ref": "#/components/responses/problem"},
           "415": {"$ref": "#/components/responses/problem"}, "429": {"$ref": "#/components/responses/later"},
           "503": {"$ref": "#/components/responses/later"}}},
         "get": {"operationId": "export", "summary": "The reports that are kept", \(Self.reader),
          "parameters": [
           {"name": "format", "in": "query", "schema": {"type": "string", "enum": ["jsonl", "csv"]}},
           {"name": "since", "in": "query", "schema": \(Self.moment)},
           {"name": "until", "in": "query", "schema": \(Self.moment)}],
          "responses": {"200": {"description": "One a line.", "content": {
            "application/jsonl": {"schema": {"type": "string"}},
            "text/csv; charset=utf-8; header=present": {"schema": {"type": "string"}}}}, \(Self.refusals)}}}
        """

    private static let operators = """
        "/v1/lists/{name}/probe": {"parameters": [{"$ref": "#/components/parameters/name"}],
          "post": {"operationId": "probe", "summary": "Hand in what tumbler probe found", "security": [{"token": []}],
           "requestBody": {"required": true, "content": {"application/json": {"schema":
            {"$ref": "#/components/schemas/ProbeResult"}}}},
           "responses": {"202": {"description": "Stored."},
            "400": {"$ref": "#/components/responses/problem"}, "401": {"$ref": "#/components/responses/problem"},
            "403": {"$ref": "#/components/responses/problem"}, "413": {"$ref": "#/components/responses/problem"},
            "415": {"$ref": "#/components/responses/problem"}, "422": {"$ref": "#/components/responses/problem"},
            "404": {"$ref": "#/components/responses/problem"}, "503": {"$ref": "#/components/responses/later"}}}},
         "/v1/lists/{name}/sightings": {"parameters": [{"$ref": "#/components/parameters/name"}],
          "get": {"operationId": "sighted", "summary": "Certificates of logs that are kept", \(Self.reader),
           "parameters": [{"name": "after", "in": "query", "schema": {"$ref": "#/components/schemas/Digest"},
            "description": "The identity after which the page begins: next of the page before."}],
           "responses": {"200": {"description": "A page of them.", "content": {"application/json": {"schema":
            {"$ref": "#/components/schemas/KeptSightings"}}}}, "404": {"$ref": "#/components/responses/problem"},
            \(Self.refusals)}},
          "post": {"operationId": "sight", "summary": "Hand in certificates that were found in logs",
           "security": [{"token": []}],
           "requestBody": {"required": true, "content": {"application/json": {"schema":
            {"$ref": "#/components/schemas/Sightings"}}}},
           "responses": {"202": {"description": "Each is kept, or counted.", "content": {"application/json": {"schema":
             {"$ref": "#/components/schemas/EvaluatedSightings"}}}},
            "400": {"$ref": "#/components/responses/problem"}, "401": {"$ref": "#/components/responses/problem"},
            "403": {"$ref": "#/components/responses/problem"}, "404": {"$ref": "#/components/responses/problem"},
            "413": {"$ref": "#/components/responses/problem"}, "415": {"$ref": "#/components/responses/problem"},
            "503": {"$ref": "#/components/responses/later"}}}},
         "/v1/lists/{name}/gates": {"parameters": [{"$ref": "#/components/parameters/name"}],
          "post": {"operationId": "gate", "summary": "Keep an answer of tumbler gate in the audit log",
           "security": [{"token": []}],
           "requestBody": {"required": true, "content": {"application/json": {"schema":
            {"$ref": "#/components/schemas/GateRecord"}, "example": \(Self.gateRecord)}}},
           "responses": {"204": {"description": "In the audit log."},
            "400": {"$ref": "#/components/responses/problem"}, "401": {"$ref": "#/components/responses/problem"},
            "403": {"$ref": "#/components/responses/problem"}, "413": {"$ref": "#/components/responses/problem"},
            "415": {"$ref": "#/components/responses/problem"},
            "429": {"$ref": "#/components/responses/later"}, "503": {"$ref": "#/components/responses/later"}}}},
         "/v1/lists/{name}/adoption": {"parameters": [{"$ref": "#/components/parameters/name"}],
          "get": {"operationId": "adoption", "summary": "The lists that installations hold", \(Self.reader),
           "responses": {"200": {"description": "The counts.", "content": {"application/json": {"schema":
            {"$ref": "#/components/schemas/Adoption"}}}}, "404": {"$ref": "#/components/responses/problem"},
            \(Self.refusals)}}},
         "/v1/status": {"get": {"operationId": "status", "summary": "The figures of the dashboard", \(Self.reader),
          "responses": {"200": {"description": "The figures.", "content": {"application/json": {"schema":
           {"$ref": "#/components/schemas/Status"}}}}, \(Self.refusals)}}},
         "/metrics": {"get": {"operationId": "metrics", "summary": "Prometheus text, version 0.0.4", \(Self.reader),
          "responses": {"200": {"description": "The metrics.", "content": {"text/plain; version=0.0.4; charset=utf-8":
           {"schema": {"type": "string"}}}}, \(Self.refusals)}}},
         "/readyz": {"get": {"operationId": "ready", "summary": "Whether all that is stored verifies", \(Self.reader),
          "responses": {"200": {"description": "It is ready.", "content": {"application/json": {"schema":
           {"$ref": "#/components/schemas/State"}}}}, \(Self.refusals)}}},
         "/healthz": {"get": {"operationId": "alive", "summary": "Liveness", "responses": {"200":
          {"description": "It is alive.", "content": {"application/json": {"schema":
           {"$ref": "#/components/schemas/State"}}}}, "400": {"$ref": "#/components/responses/problem"}}}},
         "/v1/openapi.json": {"get": {"operationId": "document", "summary": "This document", "responses": {"200":
          {"description": "This document.", "content": {"application/json": {"schema": {"type": "object"}}}},
           "400": {"$ref": "#/components/responses/problem"}}}}
        """

    private static let alarms = """
        "/v1/alarms": {"get": {"operationId": "alarms", "summary": "What fires, and what is silenced", \(Self.reader),
          "responses": {"200": {"description": "Both.", "content": {"application/json": {"schema":
           {"$ref": "#/components/schemas/Alarms"}}}}, \(Self.refusals)}}},
         "/v1/alarms/acknowledge": {"post": {"operationId": "acknowledge", "summary": "Say that a person has seen an alarm",
          \(Self.handling("Acknowledge"))}},
         "/v1/alarms/silence": {"post": {"operationId": "silence", "summary": "Keep an alarm or a kind quiet for a time",
          \(Self.handling("Silence"))}},
         "/v1/alarms/unsilence": {"post": {"operationId": "unsilence", "summary": "End a silence before its time",
          \(Self.handling("Unsilence"))}}
        """

    private static func handling(_ schema: String) -> String {
        """
        "security": [{"token": []}],
           "requestBody": {"required": true, "content": {"application/json": {"schema":
            {"$ref": "#/components/schemas/\(schema)"}}}},
           "responses": {"204": {"description": "Done; the audit log says by which token."},
            "400": {"$ref": "#/components/responses/problem"}, "401": {"$ref": "#/components/responses/problem"},
            "403": {"$ref": "#/components/responses/problem"}, "404": {"$ref": "#/components/responses/problem"},
            "413": {"$ref": "#/components/responses/problem"}, "415": {"$ref": "#/components/responses/problem"},
            "503": {"$ref": "#/components/responses/later"}}
        """
    }

    private static let rotations = """
        "/v1/lists/{name}/rotations": {"parameters": [{"$ref": "#/components/parameters/name"}],
          "get": {"operationId": "rotations", "summary": "Where each rotation stands", \(Self.reader),
           "responses": {"200": {"description": "By host.", "content": {"application/json": {"schema":
            {"$ref": "#/components/schemas/Rotations"}}}}, "404": {"$ref": "#/components/responses/problem"},
            \(Self.refusals)}}},
         "/v1/lists/{name}/rotations/{host}": {"parameters": [{"$ref": "#/components/parameters/name"},
           {"name": "host", "in": "path", "required": true, "description": "The noted hostname.",
            "example": "api.example.com", "schema": {"$ref": "#/components/schemas/Host"}}],
          "get": {"operationId": "rotation", "summary": "The plan of a rotation", \(Self.reader),
           "parameters": [{"$ref": "#/components/parameters/held"}],
           "responses": {
            "200": {"description": "As it was stored.", "headers": {"ETag": {"$ref": "#/components/headers/tag"}},
             "content": {"application/json": {"schema": {"$ref": "#/components/schemas/RotationPlan"}}}},
            "304": {"description": "It is the same.", "headers": {"ETag": {"$ref": "#/components/headers/tag"}}},
            "404": {"$ref": "#/components/responses/problem"}, \(Self.refusals)}},
          "put": {"operationId": "putRotation", "summary": "Store the plan of a rotation, unless another was faster",
           "security": [{"token": []}],
           "parameters": [
            {"name": "If-Match", "in": "header", "description": "The entity tag of the plan that this one replaces.",
             "schema": {"type": "string"}},
            {"name": "If-None-Match", "in": "header", "description": "For a first plan.", "schema": {"const": "*"}}],
           "requestBody": {"required": true, "content": {"application/json": {"schema":
            {"$ref": "#/components/schemas/RotationPlan"}}}},
           "responses": {
            "200": {"description": "Replaced.", "headers": {"ETag": {"$ref": "#/components/headers/tag"}}},
            "201": {"description": "Stored.", "headers": {"ETag": {"$ref": "#/components/headers/tag"}}},
            "400": {"$ref": "#/components/responses/problem"}, "401": {"$ref": "#/components/responses/problem"},
            "403": {"$ref": "#/components/responses/problem"}, "404": {"$ref": "#/components/responses/problem"},
            "412": {"$ref": "#/components/responses/problem"}, "413": {"$ref": "#/components/responses/problem"},
            "415": {"$ref": "#/components/responses/problem"}, "422": {"$ref": "#/components/responses/problem"},
            "428": {"$ref": "#/components/responses/problem"}, "429": {"$ref": "#/components/responses/later"},
            "503": {"$ref": "#/components/responses/later"}}}}
        """

    private static let gateRecord = """
        {"host": "api.example.com", "notedHostname": "example.com", "verdict": "safe",
              "matched": {"pin": "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "position": "any"},
              "refusing": {"share": 0.004, "measured": true, "period": "24h", "requests": 18211},
              "reason": "0.4 % of 18211 requests in 24h name a list that refuses it; at most 1 % may",
              "certificate": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}
        """

    /// A point in time that there is, for what is asked with.
    private static let moment = """
        {"type": "string", "pattern":
            "^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$"}
        """

    private static let reader = #""security": [{}, {"token": []}]"#

    private static let refusals = """
        "400": {"$ref": "#/components/responses/problem"}, "401": {"$ref": "#/components/responses/problem"},
           "403": {"$ref": "#/components/responses/problem"}, "503": {"$ref": "#/components/responses/problem"}
        """

    private static let responses = """
        "problem": {"description": "The problem.", "content": {"application/problem+json": {"schema":
            {"$ref": "#/components/schemas/Problem"}}}},
           "later": {"description": "Not now.", "headers": {"Retry-After": {"$ref": "#/components/headers/retry"}},
            "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}}
        """
}
