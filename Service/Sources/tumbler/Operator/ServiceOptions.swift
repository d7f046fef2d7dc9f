// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
import CommandLineInterface
import Foundation
import PinListRepository

/// `--server URL` and `--token-file FILE`: the place of the service, and what opens it.
struct ServicePlaceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The address of the service; by default server: in tumbler.yaml.", valueName: "url"))
    var server: String?

    @Option(
        name: .customLong("token-file"),
        help: ArgumentHelp(
            "The file with the token; by default \(ServiceToken.environmentName) names it.", valueName: "file"),
        completion: .file())
    var tokenFile: String?
}

/// A command that asks the service.
///
/// Its two groups of options stand beside each other: a debug build of the parser checks a group within a group four
/// times as often as the group around it.
protocol ServiceAskingCommand: AsyncParsableCommand {
    /// The place of the service.
    var servicePlace: ServicePlaceOptions { get }
    /// The options of connections.
    var connection: ConnectionOptions { get }
}

extension ServiceAskingCommand {
    /// The service, by both groups.
    var service: ServiceOptions { ServiceOptions(place: self.servicePlace, connection: self.connection) }
}

/// The service as it was named, and the connections to it.
struct ServiceOptions {
    private let place: ServicePlaceOptions
    /// The options of connections.
    let connection: ConnectionOptions

    init(place: ServicePlaceOptions, connection: ConnectionOptions) {
        self.place = place
        self.connection = connection
    }

    /// The address on the command line; `nil` when there is none.
    var server: String? { self.place.server }

    /// The file of the token on the command line; `nil` when there is none.
    var tokenFile: String? { self.place.tokenFile }

    /// The file of the token, wherever it is named; `nil` when it is named nowhere.
    private var tokenPath: String? {
        if let tokenFile { return tokenFile }
        let path = ProcessInfo.processInfo.environment[ServiceToken.environmentName] ?? ""
        return path.isEmpty ? nil : path
    }

    /// A client of the service.
    ///
    /// - Parameters:
    ///   - address: The service.
    ///   - token: What opens it; `nil` for what is public.
    func client(_ address: ServiceAddress, _ token: ServiceToken?) -> ServiceClient {
        ServiceClient(address, token, connections: self.connection.connections.aside)
    }

    /// The address: that of the command line, else that of the source.
    ///
    /// - Throws: ``CommandError`` when it is none.
    func address(or source: ListSource?) throws(CommandError) -> ServiceAddress? {
        if let server { return try ServiceAddress(server, from: "--server") }
        guard let named = source?.server else { return nil }
        return try ServiceAddress(named.value, from: "server: in tumbler.yaml")
    }

    /// The address: that of the command line, else that of the project's source.
    ///
    /// - Throws: ``CommandError`` when there is none.
    func requiredAddress(_ project: ProjectOption) throws(CommandError) -> ServiceAddress {
        // The source is read only where it is needed: it may name files that are not here.
        if let server { return try ServiceAddress(server, from: "--server") }
        var source: ListSource?
        if (try? project.find()) != nil || project.directory != nil {
            source = try SourceInput(nil, project).source
        }
        guard let address = try self.address(or: source) else {
            throw CommandError(
                .usage, "there is no service: no --server, and no server: in a tumbler.yaml here",
                hint: "--server https://HOST, or -C DIR")
        }
        return address
    }

    /// The token for a service; `nil` when no file is named.
    ///
    /// - Throws: ``CommandError`` when the file cannot be read, or names another service.
    func token(for address: ServiceAddress) throws(CommandError) -> ServiceToken? {
        guard let path = self.tokenPath else { return nil }
        let token = try ServiceToken(file: path)
        try token.expect(address)
        return token
    }

    /// The service, with a token.
    ///
    /// - Parameters:
    ///   - project: The project whose source may name the service.
    ///   - scope: The scope that the token needs, for the hint.
    /// - Throws: ``CommandError`` when there is no address or no token.
    func requiredClient(_ project: ProjectOption, scope: String) throws(CommandError) -> ServiceClient {
        let address = try self.requiredAddress(project)
        return self.client(address, try self.requiredToken(scope, for: address))
    }

    /// The token for a service.
    ///
    /// - Parameters:
    ///   - scope: The scope that it needs, for the hint.
    ///   - address: The service.
    /// - Throws: ``CommandError`` when no file is named, it cannot be read, or it names another service.
    func requiredToken(_ scope: String, for address: ServiceAddress) throws(CommandError) -> ServiceToken {
        guard let token = try self.token(for: address) else {
            throw CommandError(
                .usage, "there is no token: no --token-file, and \(ServiceToken.environmentName) names no file",
                hint: "tumbler token create --scope \(scope), on the service's machine, makes one")
        }
        return token
    }
}
