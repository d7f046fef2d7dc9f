// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

public import CertificatePinning

/// The sampling of reports: whether an installation reports its failures today, by the list's `reportPerMillion`.
///
/// An installation reports a domain's failures all day or not at all, and on another day other installations do. The app
/// asks for each failure but for those that every installation reports: a denied key, and list incidents.
///
/// Source: formats.md, section 3.2.
public struct ReportSampling: Hashable, Sendable {
    private let installation: InstallationID?
    private let name: String
    private let ofList: Int64
    private let ofDomains: [HostName: Int64]

    /// The sampling of a list for an installation.
    ///
    /// - Parameters:
    ///   - list: The list.
    ///   - installation: The installation; `nil` where its id cannot be stored: it reports only where all installations
    ///     do.
    public init(_ list: PinList, for installation: InstallationID?) {
        self.installation = installation
        self.name = list.name
        self.ofList = list.reportPerMillion
        self.ofDomains = Dictionary(
            list.domains.compactMap { domain in domain.reportPerMillion.map { (domain.entry.domain, $0) } }
        ) { first, _ in first }
    }

    /// Whether the installation reports failures of a domain on a day.
    ///
    /// - Parameters:
    ///   - domain: The entry's domain; `nil` for hosts that no entry covers, which have one place together: a page that
    ///     chooses hosts does not choose how many of them are reported.
    ///   - time: The time of the failure by the app's clock. Its day in UTC counts.
    public func includes(_ domain: HostName?, at time: Timestamp) -> Bool {
        let perMillion = domain.flatMap { self.ofDomains[$0] } ?? self.ofList
        guard perMillion < MetadataLimits.reportPerMillion.upperBound else { return true }
        guard let installation = self.installation else { return false }
        return installation.reportPlace(in: self.name, domain, at: time) < UInt64(clamping: perMillion)
    }
}

extension InstallationID {
    /// The installation's place among a million on the day of a failure, 0 to 999,999: it reports when that is below
    /// `reportPerMillion`.
    ///
    /// - Parameters:
    ///   - list: The list's name.
    ///   - domain: The entry's domain; `nil` for hosts that no entry covers, whose domain is the empty text.
    ///   - time: A time of the day, in UTC.
    func reportPlace(in list: String, _ domain: HostName?, at time: Timestamp) -> UInt64 {
        let day = String(time.description.prefix(10))
        let million = UInt64(clamping: MetadataLimits.reportPerMillion.upperBound)
        return self.number(of: [list, domain?.description ?? "", "report" + day]) % million
    }
}
