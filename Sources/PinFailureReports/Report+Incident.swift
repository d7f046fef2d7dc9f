// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning
public import PinListMetadata

extension Report {
    /// The report of a list incident: a root or a list from outside was refused.
    ///
    /// - Parameters:
    ///   - refusal: Why.
    ///   - envelope: What was refused. It goes along only when its signatures held: then it is evidence.
    ///   - list: The list in force.
    ///   - app: What the report says of the app.
    ///   - time: When it happened.
    /// - Returns: `nil` when the list names nowhere to report to.
    public init?(
        _ refusal: MetadataRefusal, of envelope: [UInt8], list: ReportedList, app: ReportedApp, at time: Timestamp
    ) {
        self.init(
            incident: refusal.code.description, envelope: refusal.isSigned ? envelope : nil, list: list, app: app,
            at: time)
    }

    /// The report that the list in force is stale.
    ///
    /// - Returns: `nil` when the list names nowhere to report to.
    public init?(stale list: ReportedList, app: ReportedApp, at time: Timestamp) {
        self.init(incident: "stale", envelope: nil, list: list, app: app, at: time)
    }

    private init?(incident reason: String, envelope: [UInt8]?, list: ReportedList, app: ReportedApp, at time: Timestamp)
    {
        func body(_ envelope: [UInt8]?) -> [UInt8] {
            let evidence = envelope.map { [JSONValue.Member("envelope", .string(Base64.encode($0)))] } ?? []
            return JSONValue.object(
                [.init("date-time", .string(time.description))] + app.members + [
                    .init("tumbler", .object(list.members + [.init("reason", .string(reason))] + evidence))
                ]
            ).bytes
        }
        self.init(
            ReportIdentity(incident: reason, version: list.version), listVersion: list.version, to: list.reportTo,
            body: body(envelope),
            brief: body(nil))
    }
}
