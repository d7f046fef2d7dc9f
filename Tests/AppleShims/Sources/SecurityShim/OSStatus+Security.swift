// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// No error.
public let errSecSuccess: OSStatus = 0
/// A function or an operation is not implemented.
public let errSecUnimplemented: OSStatus = -4
/// A parameter is not valid.
public let errSecParam: OSStatus = -50
/// Memory could not be allocated.
public let errSecAllocate: OSStatus = -108
/// The user cancelled.
public let errSecUserCanceled: OSStatus = -128
/// No keychain is available.
public let errSecNotAvailable: OSStatus = -25291
/// The item is in the keychain already.
public let errSecDuplicateItem: OSStatus = -25299
/// The item is not in the keychain.
public let errSecItemNotFound: OSStatus = -25300
/// The keychain is locked, and no user can be asked to open it.
public let errSecInteractionNotAllowed: OSStatus = -25308
/// No chain could be built.
public let errSecCreateChainFailed: OSStatus = -25318
/// The data could not be decoded.
public let errSecDecode: OSStatus = -26275
/// The name and the password are not right.
public let errSecAuthFailed: OSStatus = -25293
/// The process lacks the entitlement for this keychain or access group.
public let errSecMissingEntitlement: OSStatus = -34018
/// The host's name is not one of the certificate's.
public let errSecHostNameMismatch: OSStatus = -67602
/// The certificate's purposes do not allow its use.
public let errSecInvalidExtendedKeyUsage: OSStatus = -67609
/// A policy of trust denied the certificate.
public let errSecTrustSettingDeny: OSStatus = -67654
/// A certificate is past its validity, or before it.
public let errSecCertificateExpired: OSStatus = -67818
/// The chain does not end in an anchor that is trusted.
public let errSecNotTrusted: OSStatus = -67843
/// A certificate is not valid yet.
public let errSecCertificateNotValidYet: OSStatus = -67819
/// A certificate was revoked.
public let errSecCertificateRevoked: OSStatus = -67820

/// A sentence about a result.
///
/// - Parameters:
///   - status: The result.
///   - reserved: `nil`.
public func SecCopyErrorMessageString(_ status: OSStatus, _ reserved: UnsafeMutableRawPointer?) -> CFString? {
    let text =
        switch status {
        case errSecSuccess: "No error."
        case errSecUnimplemented: "Function or operation not implemented."
        case errSecParam: "One or more parameters passed to a function were not valid."
        case errSecDuplicateItem: "The specified item already exists in the keychain."
        case errSecItemNotFound: "The specified item could not be found in the keychain."
        case errSecInteractionNotAllowed: "User interaction is not allowed."
        case errSecMissingEntitlement: "A required entitlement isn't present."
        case errSecHostNameMismatch: "Host name does not match the name in the certificate."
        case errSecInvalidExtendedKeyUsage: "Invalid extended key usage."
        case errSecCertificateExpired: "An expired certificate was detected."
        case errSecCertificateNotValidYet: "The certificate is not yet valid."
        case errSecNotTrusted: "The certificate is not trusted."
        default: "OSStatus \(status)"
        }
    return NSString(string: text)
}
