// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata

/// The payload of a list, as if it had been signed, and the rules that are made of it.
enum PinsPayload: FuzzTarget {
    static let name = "pins-payload"

    /// A list with a bit of everything.
    static var seeds: [[UInt8]] {
        guard var list = EnvelopeBytes.repository?.list, let host = try? HostName("api.example.com"),
            let address = try? HostName("192.0.2.1")
        else { return [] }
        let pins = [KnownPin.Position.leaf, .issuer].map { position in
            KnownPin(Pin(kind: .publicKey, hashing: [1]), position: position, note: "current")
        }
        list.reportTo = ["https://reports.example.com/v1/reports"]
        list.domains = [
            PinList.Domain(
                PinnedDomain(
                    host, includeSubdomains: true, pins: pins, requireIssuer: true, expiresAt: list.expiresAt,
                    reportTo: ["http://127.0.0.1:8480/"]), rollout: 50),
            PinList.Domain(
                PinnedDomain(address, mode: .report, pins: [KnownPin(Pin(kind: .certificate, hashing: [2]))])),
        ]
        list.denied = [DeniedKey(Pin(kind: .publicKey, hashing: [3]), isEnforced: false, note: "stolen")]
        let end = Timestamp(secondsSince1970: list.issuedAt.secondsSince1970 + 3_600)
        list.suspended = [
            Suspension(.everything, until: end, reason: "incident"), Suspension(.entry(host), until: end, reason: ""),
        ]
        return [list.payload]
    }

    static func check(_ bytes: [UInt8]) {
        guard let list = try? PinList(payload: bytes) else { return }
        precondition((1...MetadataLimits.version).contains(list.version))
        precondition(list.expiresAt > list.issuedAt)
        precondition(MetadataLimits.refreshAfter.contains(list.refreshInterval))
        for domain in list.domains {
            precondition((0...100).contains(domain.rollout))
            precondition(MetadataLimits.reportPerMillion.contains(list.reportPerMillion(of: domain)))
            precondition(!domain.entry.domain.isAddress || !domain.entry.includeSubdomains)
            precondition(domain.entry.pins.count + domain.unusablePins <= MetadataLimits.pins)
            precondition(domain.entry.mode == .off || domain.entry.pins.count + domain.unusablePins > 0)
        }
        for whenStale in [PinList.WhenStale.enforce, .report, .deny] {
            let policy = try? list.policy(for: InstallationID(Array(0..<16)), isStale: true, whenStale: whenStale)
            precondition(policy != nil)
        }
        // Where nothing was left out, what is written is read as the same.
        guard list.unusablePinCount == 0, list.unknownMembers.isEmpty else { return }
        precondition((try? PinList(payload: list.payload)) == list)
    }
}
