// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CertificatePinning
import CommandLineInterface
import Foundation
import InterceptionBench
import PinListMetadata
import PinListRepository

/// The options of the bench: the server that it stands in front of, and the cases to play.
struct InterceptTarget: ParsableArguments {
    @Option(help: ArgumentHelp("The host that clients ask for, and its address.", valueName: "host[=address:port]"))
    var upstream: String?

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp("The pins of the client: a list, or pins.", valueName: "list|pin"), completion: .file())
    var pins: [String] = []

    @Option(
        name: .customLong("case"), help: ArgumentHelp("A case; all by default.", valueName: "name"),
        completion: .list(InterceptionCase.all.map(\.name)))
    var cases: [String] = []

    @Option(
        help: ArgumentHelp("An issuing CA of the server's PKI in PEM, then the CAs above it.", valueName: "file"),
        completion: .file())
    var intermediate: String?

    @Option(
        name: .customLong("intermediate-key"), help: ArgumentHelp("Its private key, PEM.", valueName: "file"),
        completion: .file())
    var intermediateKey: String?

    func validate() throws {
        for name in self.cases where InterceptionCase.named(name) == nil {
            let nearest = NearestName.of(name, among: InterceptionCase.all.map(\.name)).map { "; there is \($0)" } ?? ""
            throw ValidationError("--case \(name): there is no such case\(nearest)")
        }
        if (self.intermediate == nil) != (self.intermediateKey == nil) {
            throw ValidationError("--intermediate and --intermediate-key go together")
        }
        if self.cases.contains("same-intermediate"), self.intermediate == nil {
            throw ValidationError("--case same-intermediate needs --intermediate and --intermediate-key")
        }
        if let upstream, Self.place(upstream) == nil {
            throw ValidationError("--upstream \(upstream): it is written HOST or HOST=ADDRESS:PORT")
        }
    }

    /// The host, and where it is reached.
    private static func place(_ text: String) -> (host: HostName, server: ServerAddress)? {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let host = try? HostArgument.name(parts[0]) else { return nil }
        return (parts.count == 2 ? ServerAddress(parts[1]) : ServerAddress(host, 443)).map { (host, $0) }
    }

    /// Reads the files, and asks the server for its certificates where a case needs them.
    ///
    /// - Throws: ``CommandError``.
    func load() async throws(CommandError) -> (InterceptedServer, [InterceptionCase], [PinningPolicy]) {
        guard let upstream, let (host, server) = Self.place(upstream) else {
            throw CommandError(.usage, "--upstream is missing")
        }
        let proxies = try? ProxyRules(option: nil, environment: ProcessInfo.processInfo.environment)
        if proxies?.proxy(for: host, at: server.host, isTLS: true) != nil {
            StandardError.warning("the proxy of the environment is not used: the bench connects to \(server) itself")
        }
        let cases = self.played
        var presented: [[UInt8]] = []
        if cases.contains(where: { $0.need == .presentedChain }) {
            do throws(CommandError) {
                presented = try await LiveServer.presentedChain(of: ServerAddress(host, 443), connectingTo: server)
            } catch {
                throw CommandError(
                    error.exitCode, "the server's certificates are needed: \(error.message)",
                    hint: "--upstream \(host)=ADDRESS:PORT says where it is; --case NAME plays some cases only")
            }
        }
        var intercepted = InterceptedServer(
            host: host, address: server.host.description, port: server.port, presented: presented)
        if let intermediate, let intermediateKey { try Self.add(intermediate, intermediateKey, to: &intercepted) }
        let policies = try self.policies(for: host)
        let pins = policies.flatMap { $0.entry(for: host)?.pins ?? [] }.map(\.pin)
        let isPinned = presented.contains { der in (try? Pin(publicKeyOf: der)).map { pins.contains($0) } ?? false }
        if !pins.isEmpty, !presented.isEmpty, !isPinned {
            StandardError.warning("no certificate that \(server) presents has a key of --pins; its anchor may")
        }
        return (intercepted, cases, policies)
    }

    /// The cases, in the order in which they are named, or all that can be played.
    private var played: [InterceptionCase] {
        guard self.cases.isEmpty else {
            var seen = Set<String>()
            return self.cases.filter { seen.insert($0).inserted }.compactMap { InterceptionCase.named($0) }
        }
        guard self.intermediate == nil else { return InterceptionCase.all }
        StandardError.note("same-intermediate is left out: it needs --intermediate and --intermediate-key")
        return InterceptionCase.all.filter { $0.need != .intermediate }
    }

    private static func add(
        _ file: String, _ keyFile: String, to server: inout InterceptedServer
    ) throws(CommandError) {
        guard let chain = try ChainFile.certificates(in: try InputFile.read(file), named: file) else {
            throw CommandError(.undecided, "\(file): there is no certificate in it")
        }
        let key = String(decoding: try InputFile.read(keyFile), as: UTF8.self)
        do throws(InterceptionError) { try server.add(intermediate: chain, keyPEM: key) } catch {
            var reason = "it cannot be used"
            if case .intermediate(let text) = error { reason = text }
            throw CommandError(.undecided, "--intermediate \(file): \(reason)")
        }
    }

    /// The rules of the lists, and of the pins that stand alone: one of those is enough.
    private func policies(for host: HostName) throws(CommandError) -> [PinningPolicy] {
        var policies: [PinningPolicy] = []
        var pins: [KnownPin] = []
        for text in self.pins {
            if let pin = try? Pin(text) {
                pins.append(KnownPin(pin))
                continue
            }
            let bytes = try InputFile.read(text)
            let list = try CommandError.wrapping { () throws(RepositoryError) in
                try KnownList(bytes, named: text, roots: []).list
            }
            guard
                let policy = try? PinningPolicy(
                    domains: list.domains.map(\.entry), denied: list.denied, revoked: list.revoked),
                policy.entry(for: host) != nil
            else { throw CommandError(.undecided, "\(text): no entry of this list covers \(host)") }
            policies.append(policy)
        }
        if !pins.isEmpty, let policy = try? PinningPolicy(domains: [PinnedDomain(host, pins: pins)]) {
            policies.append(policy)
        }
        return policies
    }
}

/// The address on which the bench listens: `127.0.0.1:8443`, or `[::1]:0` for a port that the system chooses.
struct BenchAddress {
    /// The address, an IPv6 address without brackets.
    var host: String { self.name.description }
    /// The first port.
    let port: Int
    private let name: HostName

    /// Reads an address; `nil` for what is none.
    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
            let server = ServerAddress("\(text[..<colon]):1")
        else { return nil }
        self.name = server.host
        self.port = Int(port)
    }

    /// Whether only this machine reaches it.
    var isLoopback: Bool { ReportAddress.isLoopback(self.name) }

    /// The address that a client on this machine connects to.
    var reachable: String { self.host == "0.0.0.0" ? "127.0.0.1" : self.host == "::" ? "::1" : self.host }

    /// The address in its written form, with another port.
    func text(port: Int) -> String { ServerAddress.text(self.host, port) }
}
