// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

// swift-format-ignore-file
// Stands for swift-crypto: as much of it as the project's modules for apps use, with bodies that are never run.
public protocol Digest: Hashable, Sendable, Sequence where Element == UInt8 {
    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R
}
extension Digest {
    public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
    public func makeIterator() -> Array<UInt8>.Iterator { fatalError() }
}
public struct SHA256Digest: Digest {
    private let words: (UInt64, UInt64, UInt64, UInt64)
    public static func == (left: Self, right: Self) -> Bool { true }
    public func hash(into hasher: inout Hasher) {}
}
public struct SHA256: Sendable {
    public init() {}
    public mutating func update(bufferPointer: UnsafeRawBufferPointer) {}
    public mutating func update<D: Sequence<UInt8>>(data: D) {}
    public func finalize() -> SHA256Digest { fatalError() }
    public static func hash<D: Sequence<UInt8>>(data: D) -> SHA256Digest { fatalError() }
}
public enum P256 {
    public enum Signing {
        public struct ECDSASignature: Sendable {
            public init<D: Sequence<UInt8>>(rawRepresentation: D) throws {}
            public init<D: Sequence<UInt8>>(derRepresentation: D) throws {}
            public var rawRepresentation: [UInt8] { fatalError() }
            public var derRepresentation: [UInt8] { fatalError() }
        }
        public struct PublicKey: Sendable {
            public init<D: Sequence<UInt8>>(x963Representation: D) throws {}
            public init<D: Sequence<UInt8>>(rawRepresentation: D) throws {}
            public var x963Representation: [UInt8] { fatalError() }
            public var derRepresentation: [UInt8] { fatalError() }
            public var rawRepresentation: [UInt8] { fatalError() }
            public func isValidSignature<D: Digest>(_ signature: ECDSASignature, for digest: D) -> Bool { true }
            public func isValidSignature<D: Sequence<UInt8>>(_ signature: ECDSASignature, for data: D) -> Bool { true }
        }
        public struct PrivateKey: Sendable {
            public init() {}
            public init<D: Sequence<UInt8>>(rawRepresentation: D) throws {}
            public var publicKey: PublicKey { fatalError() }
            public func signature<D: Digest>(for digest: D) throws -> ECDSASignature { fatalError() }
            public func signature<D: Sequence<UInt8>>(for data: D) throws -> ECDSASignature { fatalError() }
        }
    }
}
public enum MLDSA65 {
    public struct PublicKey: Sendable {
        public init<D: Sequence<UInt8>>(rawRepresentation: D) throws {}
        public func isValidSignature<S: Sequence<UInt8>, D: Sequence<UInt8>>(_ signature: S, for data: D) -> Bool { true }
    }
}
public enum Curve25519 {
    public enum Signing {
        public struct PublicKey: Sendable {
            public init<D: Sequence<UInt8>>(rawRepresentation: D) throws {}
            public var rawRepresentation: [UInt8] { fatalError() }
            public func isValidSignature<S: Sequence<UInt8>, D: Sequence<UInt8>>(_ signature: S, for data: D) -> Bool { true }
        }
        public struct PrivateKey: Sendable {
            public init() {}
            public init<D: Sequence<UInt8>>(rawRepresentation: D) throws {}
            public var publicKey: PublicKey { fatalError() }
            public func signature<D: Sequence<UInt8>>(for data: D) throws -> [UInt8] { fatalError() }
        }
    }
}
