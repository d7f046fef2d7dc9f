// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

extension LogList {
    /// Reads a list.
    ///
    /// Members that are not known are ignored, with numbers of any kind. Known members must be valid; none of them is a
    /// number. An unknown state makes a log pending, so it counts for nothing.
    ///
    /// - Parameter bytes: The JSON, in UTF-8. Work and memory are linear in its length.
    /// - Throws: ``LogListError``. No part of a refused list is used.
    public init(_ bytes: [UInt8]) throws(LogListError) {
        guard !bytes.isEmpty, bytes.count <= Self.maximumLength else {
            throw LogListError(.size, "a log list has 1 to \(Self.maximumLength) bytes")
        }
        let value: JSONValue
        do throws(JSONValue.ParsingError) {
            value = try JSONValue(strict: bytes, maximumValues: Self.maximumValues, numbers: .truncated)
        } catch {
            throw LogListError(.malformed, error.description)
        }
        let list = try LogListObject(value, at: "the list")
        var logs: [TransparencyLog] = []
        var seen: Set<LogID> = []
        for (index, value) in try list.required(try list.array("operators"), "operators").enumerated() {
            let place = "operators[\(index)]"
            let operating = try LogListObject(value, at: place)
            let name = try operating.required(try operating.string("name"), "name")
            let previous = try Self.previousOperators(of: operating)
            for (member, kind) in [("logs", TransparencyLog.Kind.rfc6962), ("tiled_logs", .tiled)] {
                for (index, value) in (try operating.array(member) ?? []).enumerated() {
                    guard logs.count < Self.maximumLogs else {
                        throw LogListError(.tooMany, "over \(Self.maximumLogs) logs")
                    }
                    let object = try LogListObject(value, at: "\(place).\(member)[\(index)]")
                    let log = try TransparencyLog(object, kind, of: name, previous)
                    guard seen.insert(log.id).inserted else {
                        throw LogListError(.duplicate, "\(object.place) is the second log with the id \(log.id)")
                    }
                    logs.append(log)
                }
            }
        }
        self.init(logs, timestamp: try list.timestamp("log_list_timestamp"))
    }

    /// Reads the earlier operators of a log, the earliest first; `nil` where the list names none.
    fileprivate static func previousOperators(
        of object: LogListObject
    ) throws(LogListError) -> [TransparencyLog.PreviousOperator]? {
        guard let values = try object.array("previous_operators") else { return nil }
        guard values.count <= self.maximumPreviousOperators else {
            throw LogListError(.tooMany, "\(object.place) had over \(self.maximumPreviousOperators) operators")
        }
        var previous: [TransparencyLog.PreviousOperator] = []
        for (index, value) in values.enumerated() {
            let one = try LogListObject(value, at: "\(object.place).previous_operators[\(index)]")
            previous.append(
                TransparencyLog.PreviousOperator(
                    name: try one.required(try one.string("name"), "name"),
                    end: try one.required(try one.timestamp("end_time"), "end_time")))
        }
        return previous.sorted { $0.end < $1.end }
    }
}

extension TransparencyLog {
    /// Reads a log. The published lists have `previous_operators` in a log; one beside the operator's logs holds for all.
    fileprivate init(
        _ object: LogListObject, _ kind: Kind, of operatorName: String, _ previous: [PreviousOperator]?
    ) throws(LogListError) {
        let key = try object.required(try object.base64("key"), "key")
        let id = LogID(ofKey: key)
        guard try object.required(try object.base64("log_id"), "log_id") == id.bytes else {
            throw LogListError(.wrongID, "\(object.place).log_id is not the SHA-256 of its key")
        }
        self.id = id
        self.name = try object.string("description") ?? ""
        self.operatorName = operatorName
        self.previousOperators = try LogList.previousOperators(of: object) ?? previous ?? []
        self.kind = kind
        self.state = try object.object("state").map { state throws(LogListError) in try State(state) } ?? .pending
        self.interval = try object.object("temporal_interval").map { interval throws(LogListError) in
            let start = try interval.required(try interval.timestamp("start_inclusive"), "start_inclusive")
            let end = try interval.required(try interval.timestamp("end_exclusive"), "end_exclusive")
            guard start < end else {
                throw LogListError(.interval, "\(interval.place) does not begin before it ends")
            }
            return start..<end
        }
        self.key = LogKey(subjectPublicKeyInfo: key)
    }
}

extension TransparencyLog.State {
    /// Reads a state: an object with one member, the name of the state, whose value has the time since which it holds.
    fileprivate init(_ object: LogListObject) throws(LogListError) {
        var state: TransparencyLog.State?
        for name in ["pending", "qualified", "usable", "readonly", "retired", "rejected"] {
            guard let since = try object.object(name) else { continue }
            guard state == nil else { throw LogListError(.malformed, "\(object.place) has two states") }
            let time = try since.required(try since.timestamp("timestamp"), "timestamp")
            state =
                switch name {
                case "qualified": .qualified
                case "usable": .usable
                case "readonly": .readOnly
                case "retired": .retired(since: time)
                case "rejected": .rejected
                default: .pending
                }
        }
        self = state ?? .pending
    }
}
