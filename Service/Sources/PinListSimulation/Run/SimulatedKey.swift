// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
@_spi(Adapters) internal import PinListClient

/// A key of a scenario: a chain of certificates that the server presents, and the pin of its leaf.
///
/// The keys are made of the name: equal names have equal pins in every run.
struct SimulatedKey: Sendable {
    /// The chain as it would be validated.
    let path: ValidatedPath
    /// The pin of the server's own key.
    let pin: Pin

    /// Makes it.
    ///
    /// - Throws: ``SimulationError`` when the chain cannot be made.
    init(_ name: String, host: String) throws(SimulationError) {
        guard let chain = TrialChain(at: Timeline.beginning, host: host, NamedRandomness(name)),
            let pin = try? Pin(publicKeyOf: chain.leaf)
        else { throw SimulationError(.scenario, "no chain can be made for the key \(PrintableText.line(name))") }
        self.path = chain.path
        self.pin = pin
    }
}

/// Random numbers that a name decides on.
///
/// `@unchecked Sendable`: because it is used while a chain is made, by one thread.
private final class NamedRandomness: PinningRandomness, @unchecked Sendable {
    private var random: ClientRandomness

    init(_ name: String) {
        // FNV-1a: any mixture will do.
        let seed = name.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        self.random = ClientRandomness(seed: seed, client: 0, .traits)
    }

    func bits() -> UInt64 { self.random.bits() }
}
