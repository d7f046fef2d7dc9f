// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// Where a key lives: keys of one environment are worth nothing in the other.
public enum AttestationEnvironment: String, Hashable, Sendable, CaseIterable {
    /// Apps from the App Store, TestFlight and enterprise programs.
    case production
    /// Apps that were started from Xcode, unless their entitlement says otherwise.
    case development

    /// The 16 bytes that authenticator data has as its AAGUID: `appattest` and seven zeros, or `appattestdevelop`.
    var aaguid: [UInt8] {
        switch self {
        case .production: Array("appattest".utf8) + [UInt8](repeating: 0, count: 7)
        case .development: Array("appattestdevelop".utf8)
        }
    }

    /// The environment whose AAGUID this is.
    init?(aaguid: some Sequence<UInt8>) {
        guard let environment = Self.allCases.first(where: { $0.aaguid.elementsEqual(aaguid) }) else { return nil }
        self = environment
    }

    /// The launch categories that are accepted where the caller does not say which.
    public var usualCategories: Set<LaunchCategory> {
        switch self {
        case .production: [.appStore, .testFlight, .enterprise]
        case .development: LaunchCategory.assigned
        }
    }
}
#endif
