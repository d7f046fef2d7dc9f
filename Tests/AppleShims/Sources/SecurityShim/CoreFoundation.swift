// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import Foundation

/// Stands for `CFString`; toll-free bridged on Apple's platforms.
public typealias CFString = NSString
/// Stands for `CFData`.
public typealias CFData = NSData
/// Stands for `CFArray`.
public typealias CFArray = NSArray
/// Stands for `CFDictionary`.
public typealias CFDictionary = NSDictionary
/// Stands for `CFError`.
public typealias CFError = NSError
/// Stands for `CFDate`.
public typealias CFDate = NSDate
/// Stands for `CFNumber`.
public typealias CFNumber = NSNumber
/// Stands for `CFBoolean`.
public typealias CFBoolean = NSNumber
/// Any object of Core Foundation.
public typealias CFTypeRef = AnyObject
/// An index or a count.
public typealias CFIndex = Int
/// A set of flags.
public typealias CFOptionFlags = UInt
/// Seconds since 2001-01-01T00:00:00Z.
public typealias CFAbsoluteTime = Double
/// A result of Apple's C functions; zero is success.
public typealias OSStatus = Int32

/// An allocator; there is only `nil`, the default one.
public final class CFAllocator {}

// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// The default allocator.
public nonisolated(unsafe) let kCFAllocatorDefault: CFAllocator! = nil  // because nothing is in it
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// True, as an object.
public let kCFBooleanTrue: CFBoolean! = NSNumber(value: true)
// swift-format-ignore: NeverUseImplicitlyUnwrappedOptionals
/// False, as an object.
public let kCFBooleanFalse: CFBoolean! = NSNumber(value: false)
