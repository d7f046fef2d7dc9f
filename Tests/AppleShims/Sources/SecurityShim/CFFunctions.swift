// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// The number of a type of Core Foundation.
public typealias CFTypeID = UInt

/// The code of an error.
public func CFErrorGetCode(_ err: CFError) -> CFIndex { err.code }

/// The domain of an error.
public func CFErrorGetDomain(_ err: CFError) -> CFString { NSString(string: err.domain) }

/// A sentence about an error.
public func CFErrorCopyDescription(_ err: CFError) -> CFString { NSString(string: err.localizedDescription) }

/// How many values an array has.
public func CFArrayGetCount(_ theArray: CFArray) -> CFIndex { theArray.count }

/// Whether two objects are equal: certificates and policies by what they say, trust objects by identity.
public func CFEqual(_ cf1: CFTypeRef, _ cf2: CFTypeRef) -> Bool {
    if let first = cf1 as? SecCertificate, let second = cf2 as? SecCertificate { return first == second }
    if let first = cf1 as? SecPolicy, let second = cf2 as? SecPolicy { return first == second }
    if let first = cf1 as? NSObject, let second = cf2 as? NSObject { return first.isEqual(second) }
    return cf1 === cf2
}

/// The number of an object's type; zero for all that is not Security's.
public func CFGetTypeID(_ cf: CFTypeRef) -> CFTypeID {
    switch cf {
    case is SecTrust: SecTrustGetTypeID()
    case is SecCertificate: SecCertificateGetTypeID()
    case is SecPolicy: SecPolicyGetTypeID()
    default: 0
    }
}

/// The number of the type of trust objects.
public func SecTrustGetTypeID() -> CFTypeID { 1 }

/// The number of the type of certificates.
public func SecCertificateGetTypeID() -> CFTypeID { 2 }

/// The number of the type of policies.
public func SecPolicyGetTypeID() -> CFTypeID { 3 }
