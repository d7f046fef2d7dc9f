// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CommandLineInterface
import Foundation
import PinListMetadata
import PinListRepository
import PinListServer

/// A target of alerts as the configuration names it: with the files of its secrets, and without the secrets.
struct AlertEntry {
    /// The kind of body that the target expects.
    let kind: AlertTarget.Kind
    /// Names it in the log and on the dashboard.
    let name: String
    /// The file with its address; `nil` for the address that all of its kind have.
    let addressFile: String?
    /// The file with its key.
    let keyFile: String?
    /// The position in the configuration.
    let position: SourcePosition

    /// The target, with its secrets.
    ///
    /// - Throws: ``CommandError`` that names the file when one cannot be read or is empty; `RepositoryError` for an
    ///   address that is none. No secret is repeated.
    func target() throws -> AlertTarget {
        let key = try self.keyFile.map { try self.secret($0) } ?? ""
        let address = try self.addressFile.map { try self.secret($0) } ?? "https://events.pagerduty.com/v2/enqueue"
        guard let url = URL(string: address), ["https", "http"].contains(url.scheme), url.host?.isEmpty == false
        else {
            throw self.position.error("the urlFile of \(self.name) does not hold a URL", hint: "https://…")
        }
        // Said without the address, which is a secret.
        guard ReportAddress.isAllowed(address) else {
            throw self.position.error(
                "the URL in the urlFile of \(self.name) is not allowed: alarms are posted over https, to "
                    + "loopback alone over http, and the address has no name, password or fragment", hint: "https://…")
        }
        return AlertTarget(kind: self.kind, name: self.name, address: address, routingKey: key)
    }

    private func secret(_ path: String) throws(CommandError) -> String {
        let text: String
        do throws(CommandError) { text = String(decoding: try InputFile.read(path), as: UTF8.self) } catch {
            throw CommandError(error.exitCode, "a secret of the alert \(self.name): \(error.message)")
        }
        let secret = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard !secret.isEmpty else {
            throw CommandError(.undecided, "a secret of the alert \(self.name): \(path): there is nothing in it")
        }
        return secret
    }
}
