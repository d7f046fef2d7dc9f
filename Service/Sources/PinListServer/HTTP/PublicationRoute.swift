// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import HTTPTypes
internal import Hummingbird
internal import PinListMetadata
internal import PinListStore

/// `PUT /v1/lists/{name}`: a publication.
struct PublicationRoute: Sendable {
    let publisher: Publisher
    let lists: ServedLists
    let store: any ServiceStore
    let access: AdminAccess
    let clock: any ServiceClock
    /// The closure that is called when something was published, and is served here.
    let published: @Sendable () async -> Void

    func respond(to request: Request, _ context: ServiceContext) async throws -> Response {
        let name = try context.parameters.require("name")
        // Before the body: a client without the right to do so sends no megabytes.
        let actor = try await self.access.expectPublisher(of: name, request)
        let body = try await request.body(upTo: EnvelopeArray.maximumBytes)
        let changes: [PublishedName.Change]
        do {
            changes = try await self.publisher.publish(array: body, name: name, by: actor, at: self.clock.now)
        } catch let refusal as PublicationError {
            throw Problem(.init(integerLiteral: refusal.code.status), refusal.code.description, refusal.detail)
        } catch let error as StoreError {
            throw Problem.unavailable(error)
        }
        // A stored list is published, whether this instance serves it at once or after its next look.
        _ = try? await self.lists.reload(from: self.store)
        await self.published()
        return .json(
            .object([
                .init("name", .string(name)), .init("changes", .array(changes.map { .string($0.description) })),
            ]))
    }
}

extension PublishedName.Change: CustomStringConvertible {
    /// In words.
    package var description: String {
        switch self {
        case .root(let version): "root \(version)"
        case .list(let version): "list \(version)"
        case .resigned(let version): "list \(version) with other signatures"
        }
    }
}
