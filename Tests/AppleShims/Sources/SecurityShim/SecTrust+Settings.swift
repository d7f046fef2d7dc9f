// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// The policies that it is evaluated for.
@discardableResult
public func SecTrustCopyPolicies(_ trust: SecTrust, _ policies: UnsafeMutablePointer<CFArray?>) -> OSStatus {
    policies.pointee = trust.current.policies as CFArray
    return errSecSuccess
}

/// Sets the policies: one, or an array.
@discardableResult
public func SecTrustSetPolicies(_ trust: SecTrust, _ policies: CFTypeRef) -> OSStatus {
    guard let policies = readPolicies(policies) else { return errSecParam }
    trust.change("SecTrustSetPolicies") { $0.policies = policies }
    return errSecSuccess
}

/// Sets anchors, and from then on trusts no others; `nil` goes back to the system's.
@discardableResult
public func SecTrustSetAnchorCertificates(_ trust: SecTrust, _ anchorCertificates: CFArray?) -> OSStatus {
    var anchors: [SecCertificate]?
    if let anchorCertificates {
        guard let certificates = anchorCertificates as? [SecCertificate] else { return errSecParam }
        anchors = certificates
    }
    trust.change("SecTrustSetAnchorCertificates") {
        $0.anchors = anchors
        $0.anchorsOnly = nil
    }
    return errSecSuccess
}

/// Says whether the system's anchors are trusted beside those that were set (`false`), or not (`true`).
@discardableResult
public func SecTrustSetAnchorCertificatesOnly(_ trust: SecTrust, _ anchorCertificatesOnly: Bool) -> OSStatus {
    trust.change("SecTrustSetAnchorCertificatesOnly") { $0.anchorsOnly = anchorCertificatesOnly }
    return errSecSuccess
}

/// The anchors that were set; `nil` when none were.
@discardableResult
public func SecTrustCopyCustomAnchorCertificates(
    _ trust: SecTrust, _ anchors: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
    anchors.pointee = trust.current.anchors.map { $0 as CFArray }
    return errSecSuccess
}

/// Sets the time that certificates must be valid at.
@discardableResult
public func SecTrustSetVerifyDate(_ trust: SecTrust, _ verifyDate: CFDate) -> OSStatus {
    let time = Date(timeIntervalSinceReferenceDate: verifyDate.timeIntervalSinceReferenceDate)
    trust.change("SecTrustSetVerifyDate") { $0.time = time }
    return errSecSuccess
}

/// The time that was set, or now.
public func SecTrustGetVerifyTime(_ trust: SecTrust) -> CFAbsoluteTime {
    let question = trust.current
    return (question.time ?? SimulatedSystem.time(for: question)).timeIntervalSinceReferenceDate
}

/// Says whether an evaluation may fetch certificates that lack, and revocation. Nothing is fetched here.
@discardableResult
public func SecTrustSetNetworkFetchAllowed(_ trust: SecTrust, _ allowFetch: Bool) -> OSStatus {
    trust.change("SecTrustSetNetworkFetchAllowed") { $0.fetches = allowFetch }
    return errSecSuccess
}
