// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file: AlwaysUseLowerCamelCase

internal import Foundation

/// The name of a method in Objective-C.
public struct Selector: Hashable, Sendable {
    let name: String
}

/// The selector with a name.
public func NSSelectorFromString(_ aSelectorName: String) -> Selector { Selector(name: aSelectorName) }

/// The name of a selector.
public func NSStringFromSelector(_ aSelector: Selector) -> String { aSelector.name }

/// A method of a class.
public typealias Method = OpaquePointer

/// The method that a class has for a selector: its own, or the one that it inherits. Two classes have the same one when
/// the result is equal.
public func class_getInstanceMethod(_ cls: AnyClass?, _ name: Selector) -> Method? {
    cls.flatMap { SimulatedMethods.method(name.name, of: $0) }
}

/// What is not Apple's: which methods classes have of their own. A class without a declaration has all of its own.
public enum SimulatedMethods {
    private struct Declaration {
        let superclass: AnyClass
        let names: Set<String>
    }

    private static let lock = NSLock()
    // because they are used under the lock only
    nonisolated(unsafe) private static var declarations: [ObjectIdentifier: Declaration] = [:]
    nonisolated(unsafe) private static var methods: [String: Int] = [:]

    /// Says which methods a class implements itself, by their names in Objective-C; all others are its superclass's.
    public static func declare(_ cls: AnyClass, superclass: AnyClass, _ names: Set<String>) {
        self.lock.withLock {
            self.declarations[ObjectIdentifier(cls)] = Declaration(superclass: superclass, names: names)
        }
    }

    static func method(_ name: String, of cls: AnyClass) -> OpaquePointer? {
        self.lock.withLock {
            var cls: AnyClass = cls
            while let declaration = self.declarations[ObjectIdentifier(cls)], !declaration.names.contains(name) {
                cls = declaration.superclass
            }
            let key = "\(ObjectIdentifier(cls).hashValue) \(name)"
            let number = self.methods[key] ?? self.methods.count + 1
            self.methods[key] = number
            return OpaquePointer(bitPattern: number)
        }
    }
}
