// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

/// The paths of a router with what may be done there. The router itself says 404 for a wrong method as for a wrong
/// path; RFC 9110, section 15.5.6, wants 405, and `Allow`.
struct KnownPaths: Sendable {
    private struct Known {
        let segments: [Substring]
        var methods: Set<String>
    }

    private var known: [Known] = []

    /// Notes what a router has. `HEAD` goes wherever `GET` goes.
    init(_ router: Router<ServiceContext>) {
        for route in router.routes { self.add(route.path.description, route.method) }
    }

    private mutating func add(_ path: String, _ method: HTTPRequest.Method) {
        let segments = path.split(separator: "/")
        let methods: Set<String> = method == .get ? ["GET", "HEAD"] : [method.rawValue]
        if let index = self.known.firstIndex(where: { $0.segments == segments }) {
            self.known[index].methods.formUnion(methods)
        } else {
            self.known.append(Known(segments: segments, methods: methods))
        }
    }

    /// The methods of a path, sorted; none where there is nothing.
    func methods(of path: String) -> [String] {
        let segments = path.split(separator: "/")
        let methods = self.known.filter { Self.matches($0.segments, segments) }.map(\.methods)
        return methods.reduce(into: Set()) { $0.formUnion($1) }.sorted()
    }

    /// A segment with a parameter or a star in it matches any; what it matches exactly the router decides.
    private static func matches(_ pattern: [Substring], _ segments: [Substring]) -> Bool {
        if pattern.last == "**" {
            guard segments.count >= pattern.count else { return false }
        } else {
            guard segments.count == pattern.count else { return false }
        }
        return zip(pattern, segments).allSatisfy { pattern, segment in
            pattern == segment || pattern.contains { $0 == "{" || $0 == ":" || $0 == "*" }
        }
    }
}
