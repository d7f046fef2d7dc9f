// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// Compares the first bytes of some functions with their files, to find inline hooks.
///
/// The addresses and first bytes of the functions are looked up once, in the files and not in memory, so that a
/// detector also works in a process that was changed before.
///
/// `@unchecked Sendable`: because the looked-up functions are read and written under the lock only.
public final class FunctionDetector: TamperDetector, @unchecked Sendable {
    /// The functions of the C library and of BoringSSL that are often hooked: files, connections, decisions and reads
    /// of TLS; those that SSL Kill Switch replaces; and those that Frida 16 and 17 change in every process, to guard
    /// its end and its signals. Those of BoringSSL are found in programs whose symbols were not stripped.
    public static let usual: Set<String> = [
        "abort", "exit", "_exit", "signal", "sigaction",
        "open", "open64", "openat", "read", "write", "connect", "recv", "send", "getaddrinfo", "mprotect", "dlsym",
        "CNIOBoringSSL_SSL_do_handshake", "CNIOBoringSSL_SSL_read", "CNIOBoringSSL_SSL_write",
        "CNIOBoringSSL_SSL_set_custom_verify", "CNIOBoringSSL_SSL_CTX_set_custom_verify",
        "CNIOBoringSSL_SSL_get_psk_identity",
        "CNIOBoringSSL_X509_verify_cert", "CNIOBoringSSL_ssl_verify_peer_cert", "CCryptoBoringSSL_SHA256",
        "CCryptoBoringSSL_SHA256_Update", "CCryptoBoringSSL_SHA256_Final", "CCryptoBoringSSL_ECDSA_do_verify",
        "CCryptoBoringSSL_ED25519_verify",
    ]
    /// The number of bytes of each: a jump of any kind, and the instructions that it displaces.
    static let bytes = 16
    /// The maximum number of functions: they are read at once.
    static let maximum = ObservationLimits.places

    /// `functions`.
    public let name = "functions"
    /// Before each connection.
    public let cost = DetectorCost.connection

    private struct Beginning {
        let name: String
        let address: UInt64
        let bytes: [UInt8]
    }

    private let names: Set<String>
    private let lock = NSLock()
    private var known: [Beginning]?
    /// The changed functions that a second look at the files confirmed.
    private var confirmed: Set<UInt64> = []

    /// Creates the detector.
    ///
    /// - Parameter names: Functions as files name them: mangled.
    public init(_ names: Set<String> = FunctionDetector.usual) { self.names = names }

    /// Compares.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
            let known = try self.beginnings(machine)
            var changed = try? Self.changed(known, machine)
            guard changed?.isEmpty != true else { return }
            let confirmed = self.lock.withLock { self.confirmed }
            if changed?.allSatisfy({ confirmed.contains($0.address) }) != true {
                // A library may have been unloaded meanwhile, and its place given to something else.
                changed = try Self.changed(try self.find(machine), machine)
            }
            let found = changed ?? []
            self.lock.withLock { self.confirmed = Set(found.map(\.address)) }
            for function in found {
                signals.append(.init(.hookedFunction, .high, "\(function.name) does not begin as in its file"))
            }
        }
    }

    /// The functions that do not begin as in their files.
    private static func changed(
        _ functions: [Beginning], _ machine: any ObservedMachine
    ) throws(ObservationError) -> [Beginning] {
        let memory = try machine.bytes(at: functions.map(\.address), count: Self.bytes)
        return zip(functions, memory).filter { $0.bytes != $1 }.map(\.0)
    }

    private func beginnings(_ machine: any ObservedMachine) throws(ObservationError) -> [Beginning] {
        if let known = self.lock.withLock({ self.known }) { return known }
        return try self.find(machine)
    }

    private func find(_ machine: any ObservedMachine) throws(ObservationError) -> [Beginning] {
        let code = try LoadedCode(machine, readsFirstOnly: true)
        var found: [Beginning] = []
        for index in code.first {
            let loaded = code.images.all[index]
            guard let image = loaded.image else { continue }
            let functions = image.functions(named: self.names).sorted { $0.key < $1.key }
            for (name, symbols) in functions {
                for symbol in symbols where symbol.kind == .function && found.count < Self.maximum {
                    guard symbol.size >= UInt64(Self.bytes), let offset = image.offset(of: symbol.address),
                        let bytes = image.bytes.bytes(at: offset, count: Self.bytes)
                    else { continue }
                    let address = symbol.address &+ loaded.bias
                    guard !found.contains(where: { $0.address == address }) else { continue }
                    found.append(Beginning(name: name, address: address, bytes: bytes))
                }
            }
        }
        guard !found.isEmpty else { throw ObservationError(.missing, "functions") }
        let all = found
        self.lock.withLock { self.known = all }
        return all
    }
}

/// A function whose first bytes are looked at.
public struct WatchedFunction: Hashable, Sendable {
    /// Its name in evidence: a word that does not help an attacker to find it.
    public let name: String

    /// The address of its beginning.
    public let address: UInt64

    /// Creates a value.
    public init(name: String, address: UInt64) {
        self.name = name
        self.address = address
    }
}

/// Looks for breakpoints at the beginnings of named functions.
///
/// A debugger's software breakpoint is an instruction in the place of another. It is there while the program runs.
public struct BreakpointDetector: TamperDetector {
    /// `breakpoints`.
    public let name = "breakpoints"
    /// Before each connection: it takes a microsecond a function.
    public let cost = DetectorCost.connection

    private let functions: [WatchedFunction]
    private let processor: Processor

    /// Creates the detector.
    ///
    /// - Parameters:
    ///   - functions: The functions that decide: the verification callbacks of the app and of its TLS library.
    ///   - processor: The kind of processor.
    public init(_ functions: [WatchedFunction], processor: Processor = .current) {
        self.functions = functions
        self.processor = processor
    }

    /// Looks at the first instruction of each function.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        var answer = DetectorAnswer()
        for function in self.functions {
            let one = DetectorAnswer(of: self.name) { (signals) throws(ObservationError) in
                let bytes = try machine.bytes(at: function.address, count: 8)
                guard self.processor.hasBreakpoint(bytes) else { return }
                signals.append(.init(.breakpoint, .high, "\(function.name) begins with a breakpoint"))
            }
            answer.signals += one.signals
            answer.blindSpots += one.blindSpots
        }
        return answer
    }
}
