// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation

/// A whole answer of a service.
struct ServiceAnswer: Sendable {
    /// The status of HTTP.
    let status: Int

    /// The body, within a bound.
    let body: [UInt8]

    /// The content type of the body.
    let contentType: String

    /// The entity tag of the body, as it was sent.
    let entityTag: String?

    /// Whether it is an error as the service writes them (RFC 9457), and not one of a proxy before it.
    var isProblem: Bool { self.problem != nil }

    /// Whether the service may have made the change that it was asked for. Its own errors say that nothing was changed,
    /// but for the one whose commit had no answer. A proxy that gives up says nothing of what the service behind it did.
    var mayBeDone: Bool {
        guard self.status >= 500 else { return (200...299).contains(self.status) }
        // The service has no other status for a change that was not made; 500 is a mistake of its own.
        guard self.status == 503, let code = self.problem?.code else { return true }
        return code == Self.unknownOutcome
    }

    /// The code of the service for a change of which it does not know whether it was made (formats.md, section 7).
    private static let unknownOutcome = "store-unknown-outcome"

    /// The failure of a command whose request was for a change, and was not confirmed.
    ///
    /// - Parameter what: The request that failed, in words: `nothing was changed`.
    func failure(ofChange what: String) -> CommandError { self.failure(self.mayBeDone ? "perhaps \(what)" : what) }

    /// The failure of a command whose request the service did not carry out.
    ///
    /// - Parameter what: The request that failed, in words: `not published`.
    func failure(_ what: String) -> CommandError {
        let problem = self.problem
        let code = problem?.code.map { " \(PrintableText.line($0, maximumLength: 64))" } ?? ""
        let words = problem.flatMap { $0.detail ?? $0.title } ?? Self.words(for: self.status)
        return CommandError(
            Self.refusals.contains(self.status) ? .doesNotHold : .undecided,
            "\(what): \(self.status)\(code): \(PrintableText.line(words, maximumLength: 240))",
            hint: self.hint(problem?.code ?? ""))
    }

    /// The statuses that are a decision; any other is no decision.
    private static let refusals: Set<Int> = [400, 401, 403, 409, 413, 422]

    /// The members of a problem that are read here.
    private struct Problem: Decodable {
        let title: String?
        let detail: String?
        let code: String?
    }

    private var problem: Problem? {
        guard self.contentType.lowercased().hasPrefix("application/problem+json") else { return nil }
        return try? JSONDecoder().decode(Problem.self, from: Data(self.body))
    }

    private static func words(for status: Int) -> String {
        switch status {
        case 300...399: "the server redirects, and a token is for one server alone"
        case 401: "it needs a token, or does not accept this one"
        case 403: "the token does not permit this"
        case 404: "the server has nothing at this address"
        case 413: "it is too large for this server"
        case 429: "too many requests"
        case 500...599: "the server, or a proxy before it, cannot answer now"
        default: "the server gives no reason"
        }
    }

    /// The next step, by the code of the refusal.
    private func hint(_ code: String) -> String? {
        switch (self.status, code) {
        case (300...399, _): "--server with the address that it redirects to"
        case (401, _):
            "--token-file FILE; tumbler token create, on the service's machine, makes a token, and token list shows all"
        case (403, _): "tumbler token create, on the service's machine, makes one for this scope and this name"
        case (404, _): "is this the address of a Tumbler service?"
        case (409, "rollback"): "a newer list is published: bring the checkout up to date, then tumbler release"
        case (409, "equivocation"):
            "another list of this version is published: bring the checkout up to date, then tumbler release"
        case (409, "signature-lost"): "tumbler combine joins the envelope that is served and this one"
        case (422, "would-supersede"): "publish a list that is signed under the new root together with it"
        case (422, "would-refuse"): "tumbler sign the list with the keys of the hybrid demand, and publish it first"
        case (422, "name-not-configured"): "names: in the configuration of the service has the root that the app ships"
        case (422, _): "docs/guides/when-a-list-is-refused.md has the codes"
        case (413, _): "is there a proxy with a limit before the service?"
        case (503, "not-verified"): "tumbler serve --check, on the service's machine, says what does not verify"
        case (429, _), (500...599, _): "try again; what is done already stays unchanged"
        default: nil
        }
    }
}
