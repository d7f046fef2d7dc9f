// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file
// What the compiler needs of Objective-C's module.
@frozen public struct ObjCBool: ExpressibleByBooleanLiteral {
    private var value: Int8
    public init(_ value: Bool) { self.value = value ? 1 : 0 }
    public init(booleanLiteral value: Bool) { self.init(value) }
    public var boolValue: Bool { self.value != 0 }
}
public func _convertBoolToObjCBool(_ value: Bool) -> ObjCBool { ObjCBool(value) }
public func _convertObjCBoolToBool(_ value: ObjCBool) -> Bool { value.boolValue }
@frozen public struct Selector: Hashable {
    private var pointer: OpaquePointer
    public init(_ name: String) { fatalError() }
}
extension NSObject: Hashable {
    public static func == (left: NSObject, right: NSObject) -> Bool { left === right }
    public func hash(into hasher: inout Hasher) {}
}
