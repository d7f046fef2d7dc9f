// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CPKCS11

/// A session with a token: finds keys, reads their public half, signs.
struct PKCS11Session: ~Copyable {
    /// Classes of objects (PKCS #11 2.40, section 4.3).
    enum ObjectClass: p11_number {
        case publicKey = 2
        case privateKey = 3
    }

    /// Types of attributes (section 4.2 and the mechanisms' specification, section 2.3).
    enum Attribute: p11_number {
        case objectClass = 0x0
        case label = 0x3
        case keyType = 0x100
        case id = 0x102
        case curve = 0x180
        case point = 0x181
    }

    /// The maximum number of bytes of an attribute that are read: an RSA modulus of 16,384 bits has 2,048.
    private static let maximumAttributeBytes: p11_number = 4_096

    private let functions: p11_functions
    private let handle: p11_number

    /// Opens a session for reading.
    init(_ module: PKCS11Module, slot: p11_number) throws(PKCS11Error) {
        var handle: p11_number = 0
        // CKF_SERIAL_SESSION, which the standard demands.
        try PKCS11Error.check(module.functions.open_session?(slot, 4, nil, nil, &handle) ?? .max)
        self.functions = module.functions
        self.handle = handle
    }

    deinit {
        _ = self.functions.logout?(self.handle)
        _ = self.functions.close_session?(self.handle)
    }

    /// Logs in as the token's user.
    borrowing func logIn(_ pin: Passphrase) throws(PKCS11Error) {
        let status = self.functions.login?(self.handle, 1, pin.bytes, p11_number(pin.bytes.count)) ?? .max
        guard status != PKCS11Error.alreadyLoggedIn else { return }
        try PKCS11Error.check(status)
    }

    /// The objects of a class that a name means, at most 16.
    borrowing func objects(_ kind: ObjectClass, _ uri: PKCS11URI) throws(PKCS11Error) -> [p11_number] {
        var kind = kind.rawValue
        var label = uri.object.map { Array($0.utf8) } ?? []
        var id = uri.id ?? []
        let status = withUnsafeMutableBytes(of: &kind) { kind in
            label.withUnsafeMutableBytes { label in
                id.withUnsafeMutableBytes { id in
                    var template = [Self.attribute(.objectClass, kind)]
                    if uri.object != nil { template.append(Self.attribute(.label, label)) }
                    if uri.id != nil { template.append(Self.attribute(.id, id)) }
                    return self.functions.find_objects_init?(self.handle, &template, p11_number(template.count)) ?? .max
                }
            }
        }
        try PKCS11Error.check(status)
        var found = [p11_number](repeating: 0, count: 16)
        var count: p11_number = 0
        let searched = self.functions.find_objects?(self.handle, &found, p11_number(found.count), &count) ?? .max
        _ = self.functions.find_objects_final?(self.handle)
        try PKCS11Error.check(searched)
        return Array(found.prefix(Int(min(count, 16))))
    }

    /// The value of an attribute.
    borrowing func value(of attribute: Attribute, _ object: p11_number) throws(PKCS11Error) -> [UInt8] {
        var asked = p11_attribute(type: attribute.rawValue, value: nil, length: 0)
        try PKCS11Error.check(self.functions.get_attribute_value?(self.handle, object, &asked, 1) ?? .max)
        // All ones where it cannot be had.
        guard asked.length <= Self.maximumAttributeBytes else { throw PKCS11Error(code: 0x12) }
        var value = [UInt8](repeating: 0, count: Int(asked.length))
        let status = value.withUnsafeMutableBytes { bytes in
            var wanted = Self.attribute(attribute, bytes)
            let status = self.functions.get_attribute_value?(self.handle, object, &wanted, 1) ?? .max
            return wanted.length == p11_number(bytes.count) ? status : .max
        }
        try PKCS11Error.check(status)
        return value
    }

    /// Signs with a key.
    borrowing func signature(
        over data: [UInt8], mechanism: p11_number, key: p11_number
    ) throws(PKCS11Error) -> [UInt8] {
        var mechanism = p11_mechanism(mechanism: mechanism, parameter: nil, parameter_length: 0)
        try PKCS11Error.check(self.functions.sign_init?(self.handle, &mechanism, key) ?? .max)
        var signature = [UInt8](repeating: 0, count: 512)
        var length = p11_number(signature.count)
        try PKCS11Error.check(
            self.functions.sign?(self.handle, data, p11_number(data.count), &signature, &length) ?? .max)
        return Array(signature.prefix(Int(min(length, 512))))
    }

    private static func attribute(_ type: Attribute, _ bytes: UnsafeMutableRawBufferPointer) -> p11_attribute {
        p11_attribute(type: type.rawValue, value: bytes.baseAddress, length: p11_number(bytes.count))
    }
}
