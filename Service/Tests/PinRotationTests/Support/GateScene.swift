// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinRotation

/// A gate before `api.example.com`, and the lists that it knows.
struct GateScene {
    static let day: Int64 = 86_400

    /// The time of all tests.
    static let now = Timestamp(secondsSince1970: 1_795_219_200)

    /// A lifetime that no rule is against.
    static let long = CertificateLifetime(
        notBefore: Timestamp(secondsSince1970: now.secondsSince1970 - 10 * day),
        notAfter: Timestamp(secondsSince1970: now.secondsSince1970 + 80 * day))

    var newest: [PinList]
    var holders = GateHolders(count: nil, whyNotCounted: "there is no service", recent: [], missing: [])
    var maxRefusing: Double = 1
    var logs = KnownLogs.missing

    /// Without a service: all these lists were the newest in the last propagation, the last one is it.
    init(byTime lists: PinList...) {
        self.newest = lists.suffix(1)
        self.holders.recent = lists
    }

    /// With a service that counted so many requests for each list; the last one is the newest. All lists are also those
    /// of the last propagation.
    init(counted lists: (PinList, Int64)..., of requests: Int64) {
        self.newest = lists.suffix(1).map(\.0)
        self.holders.recent = lists.map(\.0)
        self.holders.count = GateHolders.Count(
            hours: 24, requests: requests, lists: lists.map { GateHolders.Count.Named($0.0, requests: $0.1) }, why: nil)
    }

    /// The answer of the gate.
    func answer(
        _ material: GateMaterial, for host: String = "api.example.com", lifetimes: [CertificateLifetime?] = [long]
    ) throws -> GateAnswer {
        try GateRules(
            newest: self.newest, holders: self.holders, logs: { _ in self.logs }, maxRefusing: self.maxRefusing,
            at: Self.now
        ).answer(for: try HostName(host), material, lifetimes: lifetimes)
    }

    /// A list with one entry, issued 100 days ago and a day later for each version.
    static func list(
        _ version: Int64, _ keys: [UInt8] = [], edit: (inout PinList) -> Void = { _ in }
    ) throws -> PinList {
        let issued = Self.now.secondsSince1970 - (100 - version) * Self.day
        var list = PinList(
            name: "com.example.app", version: version, issuedAt: Timestamp(secondsSince1970: issued),
            expiresAt: Timestamp(secondsSince1970: Self.now.secondsSince1970 + 60 * Self.day),
            domains: [
                PinList.Domain(
                    PinnedDomain(
                        try HostName("api.example.com"), pins: keys.map { KnownPin(FramedCertificate.pin($0)) }))
            ])
        edit(&list)
        return list
    }
}
