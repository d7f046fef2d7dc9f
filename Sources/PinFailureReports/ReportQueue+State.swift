// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// How a queue is kept over a restart.
extension ReportQueue {
    /// Why a stored queue is not read. Whoever meets it begins with an empty one: it holds nothing that protects.
    public struct StateError: Error, Hashable, Sendable, CustomStringConvertible {
        /// What is wrong, in one sentence without a full stop.
        public let description: String
    }

    /// The version of what is stored.
    static let schema: Int64 = 1

    /// The queue as UTF-8 JSON.
    public var bytes: [UInt8] {
        func identity(_ identity: ReportIdentity) -> [JSONValue.Member] {
            [.init("id", .string(identity.id)), .init("kind", .string(identity.kind))]
        }
        func optional(_ name: String, _ number: Int64?) -> [JSONValue.Member] {
            number.map { [.init(name, .integer($0))] } ?? []
        }
        let waiting = self.waiting.map { waiting in
            // The last three are newer than the schema: older clients pass over them.
            JSONValue.object(
                identity(waiting.identity) + [
                    .init("first", .bool(waiting.isFirst)),
                    .init("addresses", .array(waiting.addresses.map { .string($0) })),
                    .init("body", .string(String(decoding: waiting.body, as: UTF8.self))),
                ] + optional("list", waiting.listVersion) + optional("addedAt", waiting.addedAt?.secondsSince1970)
                    + optional("firstAt", waiting.firstAt?.secondsSince1970))
        }
        let sent = self.sent.map { sent in
            JSONValue.object(identity(sent.identity) + [.init("at", .integer(sent.time.secondsSince1970))])
        }
        let backoffs = self.backoffs.sorted { $0.key < $1.key }.map { address, backoff in
            JSONValue.object([
                .init("address", .string(address)), .init("failures", .integer(Int64(backoff.failures))),
                .init("failedAt", .integer(backoff.failedAt.secondsSince1970)),
                .init("notBefore", .integer(backoff.notBefore.secondsSince1970)),
            ])
        }
        return JSONValue.object([
            .init("schema", .integer(Self.schema)), .init("dropped", .integer(self.droppedCount)),
            .init("waiting", .array(waiting)), .init("sent", .array(sent)), .init("backoffs", .array(backoffs)),
        ]).bytes
    }

    /// Reads a stored queue. All of it must be well-formed: a file that is damaged in one place is trusted in none.
    ///
    /// - Throws: ``StateError``.
    public init(_ bytes: [UInt8]) throws(StateError) {
        guard bytes.count <= ReportLimits.stateBytes else { throw StateError(description: "the queue is too large") }
        let value: JSONValue
        do { value = try JSONValue(strict: bytes) } catch { throw StateError(description: error.description) }
        let object = try StoredObject(value)
        guard try object.integer("schema", in: Self.schema...Self.schema) == Self.schema else {
            throw StateError(description: "the queue has another schema")
        }
        self.droppedCount = try object.integer("dropped", in: 0 ... .max)
        for element in try object.array("waiting", maximum: ReportLimits.waitingWithFirsts) {
            self.waiting.append(try Self.waiting(try StoredObject(element)))
        }
        for element in try object.array("sent", maximum: ReportLimits.known) {
            let element = try StoredObject(element)
            let time = Timestamp(secondsSince1970: try element.integer("at", in: .min ... .max))
            self.sent.append(Sent(identity: try element.identity(), time: time))
        }
        for element in try object.array("backoffs", maximum: ReportLimits.waitingWithFirsts * ReportLimits.addresses) {
            let element = try StoredObject(element)
            let address = try element.string("address")
            let backoff = ReportBackoff(
                failures: Int(try element.integer("failures", in: 1...Int64(ReportBackoff.maximumFailures))),
                failedAt: Timestamp(secondsSince1970: try element.integer("failedAt", in: .min ... .max)),
                notBefore: Timestamp(secondsSince1970: try element.integer("notBefore", in: .min ... .max)))
            guard self.backoffs.updateValue(backoff, forKey: address) == nil else {
                throw StateError(description: "an address has two backoffs")
            }
        }
        try self.check()
    }

    private static func waiting(_ object: StoredObject) throws(StateError) -> Waiting {
        var addresses: [String] = []
        for value in try object.array("addresses", maximum: ReportLimits.addresses) {
            guard case .string(let address) = value, ReportAddress.isAllowed(address) else {
                throw StateError(description: "a report goes to what is no address")
            }
            addresses.append(address)
        }
        let body = Array(try object.string("body").utf8)
        // It is sent as it stands, so it must be what a collector takes.
        guard !addresses.isEmpty, let value = try? JSONValue(strict: body), case .object = value else {
            throw StateError(description: "a report has no address, or a body that is no object")
        }
        func time(_ name: String) throws(StateError) -> Timestamp? {
            try object.optionalInteger(name, in: .min ... .max).map { Timestamp(secondsSince1970: $0) }
        }
        return Waiting(
            identity: try object.identity(), isFirst: try object.bool("first"), body: body, addresses: addresses,
            listVersion: try object.optionalInteger("list", in: .min ... .max),
            addedAt: try time("addedAt"), firstAt: try time("firstAt"))
    }

    /// What holds of every queue.
    private func check() throws(StateError) {
        let ids = self.waiting.map(\.identity.id) + self.sent.map(\.identity.id)
        guard Set(ids).count == ids.count else { throw StateError(description: "a report is there twice") }
        guard ids.count <= ReportLimits.known else { throw StateError(description: "there are too many reports") }
        guard self.waiting.reduce(0, { $0 + $1.body.count }) <= ReportLimits.waitingBytes else {
            throw StateError(description: "the reports are too large")
        }
        let used = Set(self.waiting.flatMap(\.addresses))
        guard self.backoffs.keys.allSatisfy({ used.contains($0) }) else {
            throw StateError(description: "a backoff is for an address that nothing goes to")
        }
    }
}
