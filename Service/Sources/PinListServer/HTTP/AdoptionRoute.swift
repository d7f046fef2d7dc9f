// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Hummingbird
internal import PinListMetadata
internal import PinListStore
internal import PinReportAnalysis

/// `GET /v1/lists/{name}/adoption`: which lists installations hold.
struct AdoptionRoute: Sendable {
    let parts: ServiceParts
    let access: AdminAccess

    func respond(to request: Request, _ context: ServiceContext) async throws -> Response {
        let name = try context.parameters.require("name")
        try await self.access.expectReader(of: name, request)
        guard let served = self.parts.lists.names[name], let list = served.published.list else {
            throw Problem(.notFound, "not-found", "no list is published under this name")
        }
        let now = self.parts.clock.now
        let window = list.list.refreshInterval
        do {
            let listRequests = try await self.parts.store.read { store in
                try store.listRequests(of: name, windows: 1, of: HeldCount.hours(of: window), until: now.hour)
            }
            let count = HeldCount(
                listRequests.first ?? [:], versions: served.versions, window: window, at: now)
            return .json(count.value(of: name, at: now))
        } catch let error as StoreError { throw Problem.unavailable(error) }
    }
}
