// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CPKCS11
internal import Crypto

/// The one token, and the one key on it, that a name means. Everything here blocks.
struct PKCS11Token: Sendable {
    let uri: PKCS11URI
    /// The process's environment, for the path of the module.
    let environment: [String: String]
    /// The source of the PIN when the name has no `pin-source`.
    let pin: PassphraseSource

    /// `CKK_EC` and `CKK_EC_EDWARDS`.
    private enum KeyType: p11_number {
        case ellipticCurve = 3
        case edwards = 0x40
    }

    /// `CKM_ECDSA`, over a hash, and `CKM_EDDSA`, over the message.
    private enum Mechanism: p11_number {
        case ecdsa = 0x1041
        case edDSA = 0x1057
    }

    private static let p256: [UInt8] = [0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07]

    private var name: String { self.uri.description }

    /// Signs a message, not its hash.
    ///
    /// - Throws: ``RepositoryError`` of the code `signer`, with what to do.
    func signature(over message: [UInt8]) throws(RepositoryError) -> [UInt8] {
        let session = try self.openSession()
        try self.logIn(to: session)
        let key = try self.one(.privateKey, in: session)
        do throws(PKCS11Error) {
            switch try self.type(of: key, in: session) {
            case .ellipticCurve:
                // Not every token hashes for ECDSA, so that is done here.
                return try session.signature(
                    over: Array(SHA256.hash(data: message)), mechanism: Mechanism.ecdsa.rawValue, key: key)
            case .edwards:
                return try session.signature(over: message, mechanism: Mechanism.edDSA.rawValue, key: key)
            case nil:
                break
            }
        } catch {
            throw error.error(self.name, doing: "sign")
        }
        throw self.otherKind
    }

    /// The public key as DER SubjectPublicKeyInfo. Tokens show it without a PIN, as a rule. A PIN that is given is tried all
    /// the same, so that a wrong one is noticed before it is needed.
    ///
    /// - Throws: ``RepositoryError`` of the code `signer`.
    func subjectPublicKeyInfo() throws(RepositoryError) -> [UInt8] {
        let session = try self.openSession()
        let isOpen: Bool
        do throws(PKCS11Error) { isOpen = !(try session.objects(.publicKey, self.uri).isEmpty) } catch {
            throw error.error(self.name, doing: "search for the key")
        }
        if !isOpen || self.uri.pinSource != nil || self.pin != .terminal { try self.logIn(to: session) }
        let key = try self.one(.publicKey, in: session)
        do throws(PKCS11Error) {
            let point = Self.unwrapped(try session.value(of: .point, key))
            switch try self.type(of: key, in: session) {
            case .edwards where point.count == 32: return PublicKeyForm.ed25519(point: point)
            case .ellipticCurve where point.count == 65 && point[0] == 4:
                if try session.value(of: .curve, key) == Self.p256 { return PublicKeyForm.p256(point: point) }
            default: break
            }
        } catch {
            throw error.error(self.name, doing: "show the public key")
        }
        throw self.otherKind
    }

    /// ML-DSA is in PKCS #11 3.2, which few tokens speak and this does not: a program that speaks to the token can sign.
    private var otherKind: RepositoryError {
        RepositoryError(
            .signer, "\(self.name): neither a P-256 nor an Ed25519 key",
            hint: "for a key of ML-DSA on a token: exec: and a program that signs with it")
    }

    private func openSession() throws(RepositoryError) -> PKCS11Session {
        let module = try PKCS11Module(for: self.uri, environment: self.environment)
        let tokens: Int
        do throws(PKCS11Error) {
            let slots = try module.slots(for: self.uri)
            if slots.count == 1 { return try PKCS11Session(module, slot: slots[0]) }
            tokens = slots.count
        } catch {
            throw error.error(self.name, doing: "open a session")
        }
        guard tokens == 0 else {
            throw RepositoryError(
                .signer, "\(self.name): \(tokens) tokens fit this name", hint: "token=LABEL names one")
        }
        throw RepositoryError(
            .signer, "\(self.name): there is no such token", hint: "is it plugged in, and its label spelt like this?")
    }

    private func logIn(to session: borrowing PKCS11Session) throws(RepositoryError) {
        if let path = self.uri.pinSource { try BoundedFile.expectPrivate(path, holding: "the PIN of a token") }
        let source = self.uri.pinSource.map { PassphraseSource.file($0) } ?? self.pin
        let pin = try source.passphrase(for: self.name)
        do throws(PKCS11Error) { try session.logIn(pin) } catch { throw error.error(self.name, doing: "log in") }
    }

    private func one(
        _ kind: PKCS11Session.ObjectClass, in session: borrowing PKCS11Session
    ) throws(RepositoryError) -> p11_number {
        let found: [p11_number]
        do throws(PKCS11Error) { found = try session.objects(kind, self.uri) } catch {
            throw error.error(self.name, doing: "search for the key")
        }
        guard let key = found.first else {
            let what = kind == .privateKey ? "private" : "public"
            throw RepositoryError(
                .signer, "\(self.name): the token has no such \(what) key",
                hint: "pkcs11-tool --list-objects shows them")
        }
        guard found.count == 1 else {
            throw RepositoryError(
                .signer, "\(self.name): \(found.count) keys fit this name", hint: "object=LABEL and id=%01 narrow it")
        }
        return key
    }

    private func type(
        of key: p11_number, in session: borrowing PKCS11Session
    ) throws(PKCS11Error) -> KeyType? {
        let value = try session.value(of: .keyType, key)
        guard value.count == MemoryLayout<p11_number>.size else { return nil }
        return KeyType(rawValue: value.withUnsafeBytes { $0.loadUnaligned(as: p11_number.self) })
    }

    /// A point stands in an OCTET STRING; some tokens leave that out.
    private static func unwrapped(_ point: [UInt8]) -> [UInt8] {
        guard point.count > 2, point[0] == 0x04, Int(point[1]) == point.count - 2 else { return point }
        return Array(point.dropFirst(2))
    }
}
