// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import Foundation
import NIOHTTP1
import PinListRepository
import PinRotation

/// The lists that installations hold, as the service counted them (formats.md, section 7).
struct ServiceAdoption: Decodable, Sendable {
    /// The word of the service for a count that is to be decided by.
    private static let measured = "measured"

    private let state: String?
    private let versions: [String: Int64]?

    /// The period that is counted, in seconds.
    let period: Int64?

    /// The requests that named a list.
    let requests: Int64?

    /// The reason for which it is not to be decided by, as the service says it.
    private let why: String?

    private enum CodingKeys: CodingKey { case state, period, requests, versions, why }

    /// Reads it.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        self.state = container.lenient(.state)
        self.period = container.lenient(.period)
        self.requests = container.lenient(.requests)
        self.versions = container.lenient(.versions)
        self.why = container.lenient(.why)
    }

    /// The reason for which it is not to be decided by, in words, where ``measurement`` is `nil`.
    var whyNotMeasured: String {
        if let why { return PrintableText.line(why, maximumLength: 256) }
        guard self.state == Self.measured, let requests, (0..<GateRefusing.minimumRequests).contains(requests) else {
            return "the service does not say why"
        }
        return "\(requests) requests are too few, and \(GateRefusing.minimumRequests) are needed"
    }

    /// The counts; `nil` when it is not measured, is too little, or does not add up.
    var measurement: HeldLists.Measurement? {
        guard self.state == Self.measured, let period, let requests, let versions, period > 0,
            requests >= GateRefusing.minimumRequests
        else { return nil }
        var counts: [Int64: Int64] = [:]
        var sum: Int64 = 0
        for (text, count) in versions {
            guard let version = Int64(text), version > 0, count >= 0, count <= requests - sum else { return nil }
            sum += count
            counts[version] = count
        }
        return HeldLists.Measurement(period: period, requests: requests, versions: counts)
    }
}

extension ServiceClient {
    /// The maximum number of bytes of an answer about adoption: some thousand versions.
    private static let adoptionBytes = 1 << 20

    /// The lists that installations hold.
    ///
    /// - Throws: ``CommandError`` when the service cannot be asked, or answers something else.
    func adoption(of name: String) async throws(CommandError) -> ServiceAdoption {
        let answer: ServiceAnswer
        do throws(ServiceResponseError) {
            answer = try await self.ask(
                Request(
                    method: .GET, url: "\(self.address.list(name))/adoption", body: nil,
                    maximumBytes: Self.adoptionBytes))
        } catch {
            throw CommandError(.undecided, "\(self.address): \(error.reason)", hint: error.hint)
        }
        guard answer.status == 200 else { throw answer.failure("no adoption") }
        guard let adoption = try? JSONDecoder().decode(ServiceAdoption.self, from: Data(answer.body)) else {
            throw CommandError(.undecided, "\(self.address) answers 200, but not with adoption")
        }
        return adoption
    }
}
