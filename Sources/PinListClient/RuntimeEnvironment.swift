// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A value that asks the client to refuse pinned connections because of tampering. Only `PinningIntegrity` makes one:
/// an app that does not import it cannot refuse by mistake, and one that forgets to import it does not compile.
public struct TamperingRefusal: Hashable, Sendable {
    /// Creates one.
    @_spi(Adapters) public init() {}
}

/// The result of an app's checks of its own process: those of the monitor of `PinningIntegrity`, or the app's own.
///
///     configuration.watch(monitor)                    // PinningIntegrity: the monitor's signals and its policy
///     configuration.runtimeEnvironment = { RuntimeEnvironment(signals: ["sandbox"]) }
public struct RuntimeEnvironment: Hashable, Sendable {
    /// Names of signals: they are in reports of failures (formats.md, section 5).
    public var signals: [String]

    /// Whether pinned connections are refused because of them, with the reason `tampering`; `nil` when they are not.
    public var refusal: TamperingRefusal?

    /// Whether pinned connections are refused because of them.
    public var refuses: Bool { self.refusal != nil }

    /// Creates a result.
    ///
    /// - Parameters:
    ///   - signals: Names of signals.
    ///   - refusal: Asks for pinned connections to be refused.
    public init(signals: [String] = [], refusal: TamperingRefusal? = nil) {
        self.signals = signals
        self.refusal = refusal
    }

    /// The union of two results: the signals of both, each once, and a refusal where either refuses.
    ///
    /// - Parameter other: The other result.
    public func joined(with other: RuntimeEnvironment) -> RuntimeEnvironment {
        RuntimeEnvironment(
            signals: self.signals + other.signals.filter { !self.signals.contains($0) },
            refusal: self.refusal ?? other.refusal)
    }
}
