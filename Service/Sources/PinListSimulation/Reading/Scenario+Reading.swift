// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata
public import PinListRepository

extension Scenario {
    private static let members = [
        "clients", "days", "opened", "session", "offline", "refreshAfter", "cache", "listHost", "validFor", "whenStale",
        "events", "rollout",
    ]

    /// Reads a scenario (formats.md, section 11), and the trace that it names.
    ///
    /// - Parameters:
    ///   - bytes: YAML in UTF-8.
    ///   - file: Its name. Errors begin with it, and a trace is beside it.
    ///   - files: The reader of a trace.
    /// - Throws: `RepositoryError` of code `source`, with file, line, column and what to write.
    public init(yaml bytes: [UInt8], file: String, files: some SourceFiles) throws(RepositoryError) {
        let value = try YAMLReader.read(bytes, file: file)
        let object = try SourceObject(value, "a scenario", known: Self.members)
        guard let clients = try object.count("clients", in: ScenarioLimits.clients) else {
            throw object.missing("clients", "clients: 100000")
        }
        guard let opened = object.value("opened") else {
            throw object.missing("opened", "opened: {model: gamma-poisson, shape: 0.65, scale: 2.6d}")
        }
        self.init(clients: clients, opened: try OpeningModel(opened, file: file, files: files))
        self.days = try object.count("days", in: ScenarioLimits.days)
        self.session = try object.span("session", in: ScenarioLimits.session) ?? self.session
        self.refreshAfter = try object.span("refreshAfter", in: 1...TimeSpan.maximum) ?? self.refreshAfter
        self.cache = try object.span("cache", in: ScenarioLimits.cache) ?? self.cache
        self.validFor = try object.span("validFor", in: 1...TimeSpan.maximum)
        self.whenStale = try object.oneOf(
            "whenStale", ["enforce": .enforce, "report": .report, "deny": .deny], default: self.whenStale)
        if let offline = object.value("offline") {
            let members = try SourceObject(offline, "offline", known: ["share", "for"])
            self.offline = Offline(
                share: try members.needed("share", "share: 0.02", try members.decimal("share", in: 0...1)),
                for: try members.needed("for", "for: 30d", try members.span("for", in: 1...TimeSpan.maximum)))
        }
        try self.readListHost(object)
        try self.readEvents(object)
    }

    private mutating func readListHost(_ object: SourceObject) throws(RepositoryError) {
        guard let value = object.value("listHost") else { return }
        let members = try SourceObject(value, "listHost", known: ["outage", "sharesFateWith"])
        for element in try members.list("outage", maximum: ScenarioLimits.outages) {
            let outage = try SourceObject(element, "an outage", known: ["from", "for"])
            self.outages.append(
                Outage(
                    from: try outage.needed("from", "from: 10d", try outage.span("from", in: 0...TimeSpan.maximum)),
                    for: try outage.needed("for", "for: 2h", try outage.span("for", in: 1...TimeSpan.maximum))))
        }
        guard let host = try members.text("sharesFateWith") else { return }
        do { self.sharesFateWith = try HostName(host.value) } catch {
            throw host.position.error("sharesFateWith is not a host", hint: error.reason)
        }
    }

    private mutating func readEvents(_ object: SourceObject) throws(RepositoryError) {
        var names: Set<String> = [Self.firstKey]
        for element in try object.list("events", maximum: ScenarioLimits.events) {
            let event = try SourceObject(element, "an event", known: ["at", "publish", "switch", "suspend"])
            let change = try Change(event)
            try self.append(event, change)
            names.formUnion(change.keys)
            guard names.count <= ScenarioLimits.keys else {
                throw event.position.error("over \(ScenarioLimits.keys) keys are named")
            }
        }
        let maximum = ScenarioLimits.events - self.events.count
        for element in try object.list("rollout", maximum: maximum) {
            let rollout = try SourceObject(element, "an element of rollout", known: ["at", "percent"])
            let percent = try rollout.needed(
                "percent", "percent: 10", try rollout.count("percent", in: 0...100))
            try self.append(rollout, .rollout(percent: percent))
        }
    }

    private mutating func append(_ object: SourceObject, _ change: Change) throws(RepositoryError) {
        let at = try object.needed("at", "at: 14d", try object.span("at", in: 0...TimeSpan.maximum))
        let maximum = Int64(self.days ?? ScenarioLimits.days.upperBound - 30) * 86_400
        guard at.seconds < maximum else {
            throw object.position(of: "at").error(
                "at is not before the end, \(TimeSpan(seconds: maximum))", hint: "an earlier moment, or more days")
        }
        self.events.append(Event(at: at, change))
    }
}

extension Scenario.Change {
    private static let kinds = ["publish", "switch", "suspend"]

    fileprivate init(_ event: SourceObject) throws(RepositoryError) {
        let present = event.present(among: Self.kinds)
        guard present.count == 1 else {
            throw event.position.error(
                present.isEmpty ? "an event that does nothing" : "an event that does \(present.count) things",
                hint: "write one of \(Self.kinds.joined(separator: ", ")) for each event")
        }
        if let name = try event.keyName("switch") {
            self = .switchTo(name)
        } else if let value = event.value("suspend") {
            let members = try SourceObject(value, "suspend", known: ["for"])
            let length = try members.needed("for", "for: 2h", try members.span("for", in: ScenarioLimits.suspension))
            self = .suspend(length)
        } else if let value = event.value("publish") {
            let members = try SourceObject(value, "publish", known: ["pins", "deny", "mode"])
            let mode: PinnedDomain.Mode = try members.oneOf(
                "mode", ["enforce": .enforce, "report": .report, "off": .off], default: .enforce)
            let pins = try members.keyNames("pins")
            guard !pins.isEmpty || mode == .off else { throw members.missing("pins", "pins: [old, new]") }
            self = .publish(pins: pins, denied: try members.keyNames("deny"), mode: mode)
        } else {
            throw event.position.error("\(present.joined()) is empty", hint: "write suspend: {for: 2h}")
        }
    }

    /// The names of keys in it.
    fileprivate var keys: [String] {
        switch self {
        case .publish(let pins, let denied, _): pins + denied
        case .switchTo(let name): [name]
        case .suspend, .rollout: []
        }
    }
}
