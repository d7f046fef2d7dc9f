// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes
internal import Hummingbird

/// Refuses requests whose target is ambiguous, before anything looks at them: a proxy in front of the service may have
/// read them differently (RFC 9112, sections 3.2 and 11.2).
struct TargetCheck<Next: HTTPResponder<ServiceContext>>: HTTPResponder {
    typealias Context = ServiceContext

    let next: Next

    func respond(to request: Request, context: ServiceContext) async throws -> Response {
        if let doubt = request.head.targetDoubt { return Problem(.badRequest, "bad-target", doubt).response }
        return try await self.next.respond(to: request, context: context)
    }

}

extension HTTPRequest {
    /// The defect of the target of a request, if any.
    var targetDoubt: String? {
        guard let authority = self.authority, !authority.isEmpty else { return "the field Host is missing" }
        // The first of them is the authority; it is not among the fields.
        guard !self.headerFields.contains(where: { $0.name.canonicalName == "host" }) else {
            return "there is more than one field Host"
        }
        guard authority.utf8.allSatisfy(HostByte.mayStandInHost) else { return "the field Host names no host" }
        // Of an address as the target the codec has left the path. The rest are * and what a tunnel leads to.
        return self.path?.utf8.first == UInt8(ascii: "/") ? nil : "the target is not a path that begins with /"
    }
}
