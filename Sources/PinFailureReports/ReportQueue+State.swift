// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

/// The stored form of a queue, which survives a restart.
extension ReportQueue {
    /// The damage of a stored queue that is not read. The reader begins with an empty queue, because no protection
    /// depends on it.
    public struct StateError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The explanation, in one sentence without a full stop.
        public let description: String
        /// Whether a newer version of this library wrote the queue: then it is not damaged, and is not replaced.
        package var isNewer = false
    }

    /// The version of the stored form.
    static let schema: Int64 = 1

    /// The queue as UTF-8 JSON.
    public var bytes: [UInt8] {
        func identity(_ identity: ReportIdentity) -> [JSONValue.Member] {
            [.init("id", .string(identity.id)), .init("kind", .string(identity.kind))]
        }
        func optional(_ name: String, _ number: Int64?) -> [JSONValue.Member] {
            number.map { [.init(name, .integer($0))] } ?? []
        }
        func list(_ order: ListOrder?) -> [JSONValue.Member] {
            // Without the second one it is that of root 1.
            optional("list", order?.version) + optional("root", order.flatMap { $0.root == 1 ? nil : $0.root })
        }
        let waiting = self.waiting.map { waiting in
            // The members after the body are newer than the schema: older clients ignore them.
            JSONValue.object(
                identity(waiting.identity) + [
                    .init("first", .bool(waiting.isFirst)),
                    .init("addresses", .array(waiting.addresses.map { .string($0) })),
                    .init("body", .string(String(decoding: waiting.body, as: UTF8.self))),
                ] + list(waiting.list) + optional("addedAt", waiting.addedAt?.secondsSince1970)
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

    /// Whether a newer version of this library wrote a file, whatever else it has, and numbers of any kind.
    package static func hasSchema(above known: Int64, _ bytes: [UInt8]) -> Bool {
        guard case .object(let members)? = try? JSONValue(strict: bytes, numbers: .truncated),
            case .integer(let schema)? = members.first(where: { $0.name == "schema" })?.value
        else { return false }
        return schema > known
    }

    /// Reads a stored queue. All of it must be well-formed: a file with one defect is not used at all.
    ///
    /// - Throws: ``StateError``.
    public init(_ bytes: [UInt8]) throws(StateError) {
        guard bytes.count <= ReportLimits.stateBytes else { throw StateError(description: "the queue is too large") }
        let value: JSONValue
        do { value = try JSONValue(strict: bytes) } catch {
            let isNewer = Self.hasSchema(above: Self.schema, bytes)
            throw StateError(description: error.description, isNewer: isNewer)
        }
        let object = try StoredObject(value)
        guard try object.integer("schema", in: Self.schema ... .max) == Self.schema else {
            throw StateError(description: "a newer version wrote the queue", isNewer: true)
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
                throw StateError(description: "a report has an invalid address")
            }
            addresses.append(address)
        }
        let body = Array(try object.string("body").utf8)
        // The body is sent unchanged, so it must be an object that a collector accepts.
        guard !addresses.isEmpty, let value = try? JSONValue(strict: body), case .object = value else {
            throw StateError(description: "a report has no address, or its body is not an object")
        }
        func time(_ name: String) throws(StateError) -> Timestamp? {
            try object.optionalInteger(name, in: .min ... .max).map { Timestamp(secondsSince1970: $0) }
        }
        let version = try object.optionalInteger("list", in: .min ... .max)
        let root = try object.optionalInteger("root", in: 0 ... .max) ?? 1
        return Waiting(
            identity: try object.identity(), isFirst: try object.bool("first"), body: body, addresses: addresses,
            list: version.map { ListOrder(under: root, version: $0) }, addedAt: try time("addedAt"),
            firstAt: try time("firstAt"))
    }

    /// Checks the invariants of a queue.
    private func check() throws(StateError) {
        let ids = self.waiting.map(\.identity.id) + self.sent.map(\.identity.id)
        guard Set(ids).count == ids.count else { throw StateError(description: "two reports are the same") }
        guard ids.count <= ReportLimits.known else { throw StateError(description: "there are too many reports") }
        guard self.waiting.reduce(0, { $0 + $1.body.count }) <= ReportLimits.waitingBytes else {
            throw StateError(description: "the reports are too large")
        }
        let used = Set(self.waiting.flatMap(\.addresses))
        guard self.backoffs.keys.allSatisfy({ used.contains($0) }) else {
            throw StateError(description: "a backoff is for an address without a report")
        }
    }
}
