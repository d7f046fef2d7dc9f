// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird

/// Answers questions about lists that came behind other requests; what it does not know it hands on.
///
/// The others ``ListChannelHandler`` has answered before.
struct PublicResponder: HTTPResponder {
    typealias Context = ServiceContext

    let lists: ListResponder
    let next: any HTTPResponder<ServiceContext>

    func respond(to request: Request, context: ServiceContext) async throws -> Response {
        if let answer = self.lists.answer(to: request.head, from: context.peer) { return answer.response }
        return try await self.next.respond(to: request, context: context)
    }
}
