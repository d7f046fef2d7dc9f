// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import SwiftASN1
import X509

/// The policy extensions of a certificate (RFC 5280, sections 4.2.1.4, 4.2.1.5, 4.2.1.11 and 4.2.1.14), read strictly.
struct CertificatePolicies: Sendable {
    /// A policy: the contents of its object identifier as they stand. Compared as bytes, since the numbers in one may be
    /// of any size (those made from a UUID have 128 bits).
    typealias Policy = ArraySlice<UInt8>

    /// A policy mapping: a policy of the issuer that is equivalent to one of the subject.
    struct Mapping: Sendable {
        let issuer: Policy
        let subject: Policy
    }

    /// The four extensions, all of which may be critical.
    static let certificatePolicies: ASN1ObjectIdentifier = [2, 5, 29, 32]
    static let policyMappings: ASN1ObjectIdentifier = [2, 5, 29, 33]
    static let policyConstraints: ASN1ObjectIdentifier = [2, 5, 29, 36]
    static let inhibitAnyPolicy: ASN1ObjectIdentifier = [2, 5, 29, 54]

    private static let anyPolicy: Policy = [0x55, 0x1d, 0x20, 0x00]

    /// The named policies without *anyPolicy*; `nil` where the certificate has no policies extension.
    let policies: Set<Policy>?

    /// Whether *anyPolicy* is named.
    let hasAnyPolicy: Bool

    /// The policy mappings: the names below of the policies above.
    let mappings: [Mapping]

    /// The numbers of further certificates after which a policy is demanded, mappings do not count, and *anyPolicy*
    /// does not.
    let requireExplicitPolicy: Int?
    let inhibitPolicyMapping: Int?
    let inhibitAny: Int?

    /// The number of policies and mappings: the cost of looking at them.
    var count: Int { (self.policies?.count ?? 0) + self.mappings.count }

    /// Reads the extensions.
    ///
    /// - Throws: swift-asn1's error when one of them is malformed, names a policy twice, or maps *anyPolicy*.
    init(_ extensions: Certificate.Extensions) throws {
        var policies: Set<Policy>?
        var hasAnyPolicy = false
        if let value = extensions[oid: Self.certificatePolicies]?.value {
            var named: Set<Policy> = []
            for information in try Self.elements(of: try DER.parse(value), atLeast: 1) {
                let fields = try Self.elements(of: information, atLeast: 1)
                let policy = try Self.policy(fields[0])
                let isNew = policy == Self.anyPolicy ? !hasAnyPolicy : named.insert(policy).inserted
                guard isNew, fields.count <= 2 else { throw Self.malformed }
                if policy == Self.anyPolicy { hasAnyPolicy = true }
                if fields.count == 2 { try Self.checkQualifiers(fields[1]) }
            }
            policies = named
        }
        self.policies = policies
        self.hasAnyPolicy = hasAnyPolicy

        var mappings: [Mapping] = []
        if let value = extensions[oid: Self.policyMappings]?.value {
            for pair in try Self.elements(of: try DER.parse(value), atLeast: 1) {
                let fields = try Self.elements(of: pair, atLeast: 2)
                guard fields.count == 2 else { throw Self.malformed }
                let mapping = Mapping(issuer: try Self.policy(fields[0]), subject: try Self.policy(fields[1]))
                guard mapping.issuer != Self.anyPolicy, mapping.subject != Self.anyPolicy else { throw Self.malformed }
                mappings.append(mapping)
            }
        }
        self.mappings = mappings

        (self.requireExplicitPolicy, self.inhibitPolicyMapping) =
            try extensions[oid: Self.policyConstraints].map { try Self.constraints($0.value) } ?? (nil, nil)
        self.inhibitAny = try extensions[oid: Self.inhibitAnyPolicy].map {
            try Self.number(try DER.parse($0.value), .integer)
        }
    }

    private static var malformed: any Error { ASN1Error.invalidASN1Object(reason: "policies") }

    private static func elements(of node: ASN1Node, atLeast minimum: Int) throws -> [ASN1Node] {
        guard node.identifier == .sequence, case .constructed(let nodes) = node.content else { throw self.malformed }
        let elements = Array(nodes)
        guard elements.count >= minimum else { throw self.malformed }
        return elements
    }

    private static func policy(_ node: ASN1Node) throws -> Policy {
        guard node.identifier == .objectIdentifier, case .primitive(let bytes) = node.content,
            let last = bytes.last, last < 0x80
        else { throw self.malformed }
        // Each number in its shortest form, so that each policy has one encoding (X.690, section 8.19.2).
        var isStart = true
        for byte in bytes {
            guard !isStart || byte != 0x80 else { throw self.malformed }
            isStart = byte < 0x80
        }
        return bytes
    }

    /// Qualifiers decide nothing (section 4.2.1.4); their frame is looked at.
    private static func checkQualifiers(_ node: ASN1Node) throws {
        for qualifier in try self.elements(of: node, atLeast: 1) {
            let fields = try self.elements(of: qualifier, atLeast: 2)
            guard fields.count == 2 else { throw self.malformed }
            _ = try self.policy(fields[0])
        }
    }

    private static func constraints(_ value: ArraySlice<UInt8>) throws -> (explicit: Int?, mapping: Int?) {
        var numbers: [Int?] = [nil, nil]
        var next: UInt = 0
        for field in try self.elements(of: try DER.parse(value), atLeast: 1) {
            let tag = field.identifier.tagNumber
            guard field.identifier.tagClass == .contextSpecific, tag >= next, tag < 2 else { throw self.malformed }
            numbers[Int(tag)] = try self.number(field, field.identifier)
            next = tag + 1
        }
        return (numbers[0], numbers[1])
    }

    /// A number of certificates; larger ones than any path are equivalent.
    private static func number(_ node: ASN1Node, _ identifier: ASN1Identifier) throws -> Int {
        guard node.identifier == identifier, case .primitive(let bytes) = node.content, let first = bytes.first,
            first < 0x80, bytes.count == 1 || first != 0 || bytes[bytes.startIndex + 1] >= 0x80
        else { throw self.malformed }
        return bytes.count > 4 ? Int(Int32.max) : bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}
#endif
