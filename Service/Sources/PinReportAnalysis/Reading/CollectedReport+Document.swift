// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListMetadata

extension CollectedReport {
    /// The report as strict JSON with section 5's members, for each form that it came in: what is stored and exported.
    ///
    /// Not the bytes that came: those may hold identifiers, and anything else that a sender wants stored. Without the
    /// envelope of an incident, which is large and has its own member. Reads back as an equal report but for that.
    public var document: [UInt8] {
        var members: [JSONValue.Member] = []
        func add(_ name: String, _ value: JSONValue?) {
            if let value { members.append(JSONValue.Member(name, value)) }
        }
        add("date-time", self.claimedTime.map { .string($0.description) })
        if self.kind != .incident {
            add("hostname", .string(self.hostname))
            add("port", self.port.map { .integer(Int64($0)) })
            add("noted-hostname", .string(self.notedHostname))
            add("include-subdomains", self.includesSubdomains.map { .bool($0) })
            add("enforce-pinning", self.isEnforced.map { .bool($0) })
            add("effective-expiration-date", self.expiresAt.map { .string($0.description) })
            add("validation-result", .integer(self.validationResult))
            add("known-pins", Self.texts(self.knownPins.map { $0.description }))
            add("served-certificate-chain", Self.texts(ReportedChain.texts(of: self.servedChain)))
            add("validated-certificate-chain", Self.texts(ReportedChain.texts(of: self.validatedChain)))
        }
        add("app-bundle-id", self.app.bundleID.map { .string($0) })
        add("app-version", self.app.version.map { .string($0) })
        add("app-platform", self.app.platform.map { .string($0) })
        add("app-platform-version", self.app.platformVersion.map { .string($0) })
        var ours: [JSONValue.Member] = [.init("reason", .string(self.reason))]
        if let name = self.list.name { ours.append(.init("list-name", .string(name))) }
        if let version = self.list.version { ours.append(.init("list-version", .integer(version))) }
        if let digest = self.list.digest { ours.append(.init("list-digest", .string(digest))) }
        if !self.signals.isEmpty { ours.append(.init("signals", .array(self.signals.map { .string($0) }))) }
        add("tumbler", .object(ours))
        return JSONValue.object(members).bytes
    }

    private static func texts(_ texts: [String]) -> JSONValue? {
        texts.isEmpty ? nil : .array(texts.map { .string($0) })
    }
}
