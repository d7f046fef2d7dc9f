// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinListServer
import Testing

@Suite("The interface over HTTP")
struct HTTPInterfaceTests {
    @Test("a path that is there and a method that is not: 405, and what there is")
    func pathThatIsThereAndAMethodThatIsNot405AndWhatThereIs() async throws {
        try await PublishedService.with { service in
            for (method, path, allowed) in [
                ("POST", "/healthz", "GET, HEAD"), ("TRACE", "/healthz", "GET, HEAD"),
                ("PUT", "/v1/reports", "GET, HEAD, POST"), ("OPTIONS", "/v1/reports", "GET, HEAD, POST"),
                ("GET", "/v1/lists/a", "PUT"),
                ("PUT", "/v1/lists/a/probe", "POST"), ("DELETE", service.list, "GET, HEAD"),
                ("PUT", service.root, "GET, HEAD"), ("POST", "/v1/lists/none/pins.json", "GET, HEAD"),
                ("PATCH", "/metrics", "GET, HEAD"),
            ] {
                let answer = try await service.ask(method, path)
                #expect(answer.statuses == [405], "\(method) \(path): \(answer.text)")
                #expect(answer.text.lowercased().contains("allow: \(allowed.lowercased())\r\n"), "\(method) \(path)")
                #expect(answer.text.contains("application/problem+json"), "\(method) \(path)")
            }
        }
    }

    @Test("HEAD is GET without the body; a path that is nowhere is a problem")
    func headIsGETWithoutTheBodyAPathThatIsNowhereIsAProblem() async throws {
        try await PublishedService.with { service in
            for path in [service.list, service.root, "/healthz", "/v1/openapi.json", "/readyz"] {
                let (get, head) = (
                    try await service.ask("GET", path, service.reader),
                    try await service.ask("HEAD", path, service.reader)
                )
                #expect(get.statuses == [200] && head.statuses == [200], "\(path)")
                #expect(head.text.hasSuffix("\r\n\r\n"), "\(path)")
                #expect(Self.length(get) != nil && Self.length(get) == Self.length(head), "\(path)")
            }
            let nowhere = try await service.ask("GET", "/nowhere")
            #expect(nowhere.statuses == [404] && nowhere.text.contains("application/problem+json"))
        }
    }

    @Test("a browser that asks for what is not there gets a page, and a program a problem")
    func browserThatAsksForWhatIsNotThereGetsAPage() async throws {
        try await PublishedService.with { service in
            let ask = "Host: localhost\r\nAccept: text/html,application/xhtml+xml\r\nConnection: close\r\n\r\n"
            let page = try await service.ask("GET /runbooks HTTP/1.1\r\n\(ask)")
            #expect(page.statuses == [404])
            #expect(page.text.contains("text/html") && page.text.contains("<h1>Nothing here</h1>"))
            #expect(page.text.contains("default-src 'none'") && page.text.contains("To the dashboard"))
            for line in ["GET /v1/nowhere", "POST /runbooks"] {
                let problem = try await service.ask("\(line) HTTP/1.1\r\nContent-Length: 0\r\n\(ask)")
                #expect(problem.statuses == [404] && problem.text.contains("application/problem+json"), "\(line)")
            }
        }
    }

    @Test("a name may end with .json: it is published at its path as any other")
    func nameMayEndWithJsonItIsPublishedAtItsPathAsAnyOther() async throws {
        try await PublishedService.with { service in
            let answer = try await service.ask("PUT", "/v1/lists/a.json")
            #expect(answer.statuses == [401])
        }
    }

    @Test("the OpenAPI document is JSON, and each of its operations is there")
    func openAPIDocumentIsJSONAndEachOfItsOperationsIsThere() async throws {
        try await PublishedService.with { service in
            let answer = try await service.ask("GET", "/v1/openapi.json")
            let body = try #require(answer.text.range(of: "\r\n\r\n")).upperBound
            let value = try JSONSerialization.jsonObject(with: Data(answer.text[body...].utf8))
            let paths = try #require((value as? [String: Any])?["paths"] as? [String: [String: Any]])
            #expect(paths.count == 22)
            for (path, item) in paths {
                let path = path.replacingOccurrences(of: "{name}", with: "a")
                    .replacingOccurrences(of: "{host}", with: "api.example.com")
                    .replacingOccurrences(of: "{file}", with: String(repeating: "0", count: 64) + ".json")
                for method in ["get", "put", "post"] where item[method] != nil {
                    let statuses = try await service.ask(method.uppercased(), path, service.reader).statuses
                    let ends = ["pins.json", "/adoption", "/rotations", "/rotations/api.example.com", "/sightings"]
                    let isOfList =
                        method == "get"
                        && (ends.contains { path.hasSuffix($0) } || path.contains("/root/") || path.contains("/logs/"))
                    // They are there where a list asks for attestations.
                    let isAbsent = isOfList || path.hasPrefix("/v1/attest/")
                    #expect(isAbsent ? statuses == [404] : statuses != [404] && statuses != [405], "\(method) \(path)")
                }
            }
        }
    }

    private static func length(_ answer: RawAnswer) -> Int? {
        guard let field = answer.text.range(of: "Content-Length: ", options: .caseInsensitive) else { return nil }
        return Int(answer.text[field.upperBound...].prefix { $0.isNumber })
    }
}
