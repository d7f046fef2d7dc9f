// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Foundation

extension PinnedMaterial {
    private static let openSSLHint = "openssl pkey -in FILE -pubout | tumbler pin -"

    /// Everything in a file that has a pin: PEM blocks in their order, or one structure in DER.
    ///
    /// - Throws: ``RepositoryError`` when there is nothing in it, or something that cannot be read.
    public static func all(in bytes: [UInt8], named name: String) throws(RepositoryError) -> [PinnedMaterial] {
        let documents: [PEMBlock]
        do throws(InputError) {
            documents = try PEMBlock.blocks(in: bytes)
        } catch {
            // openssl's older form of an encrypted key: PEM with headers, which RFC 7468 does without.
            if Data(bytes).range(of: Data("Proc-Type: 4,ENCRYPTED".utf8)) != nil { throw self.encrypted(name) }
            throw RepositoryError(.file, "\(name): \(error)")
        }
        guard !documents.isEmpty else { return [try self.one(inDER: bytes, named: name)] }
        var found: [PinnedMaterial] = []
        for document in documents {
            if let material = try self.material(of: document, index: found.count, named: name) {
                found.append(material)
            }
        }
        guard !found.isEmpty else {
            throw RepositoryError(.file, "\(name): no certificate, key or request in this PEM")
        }
        return found
    }

    private static func material(
        of document: PEMBlock, index: Int, named name: String
    ) throws(RepositoryError) -> PinnedMaterial? {
        let bytes = document.bytes
        do {
            switch document.label {
            case "CERTIFICATE", "X509 CERTIFICATE":
                return try PinnedMaterial(certificate: bytes, index: index, source: name)
            case "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST":
                return try self.request(bytes, named: name)
            case "PUBLIC KEY":
                return PinnedMaterial(.publicKey, subjectPublicKeyInfo: try PublicKeyBytes.checked(bytes), source: name)
            case "RSA PUBLIC KEY":
                return PinnedMaterial(
                    .publicKey, subjectPublicKeyInfo: try PublicKeyBytes.ofPKCS1Public(bytes), source: name)
            case "PRIVATE KEY":
                return PinnedMaterial(
                    .privateKey, subjectPublicKeyInfo: try PublicKeyBytes.ofPKCS8(bytes), source: name)
            case "RSA PRIVATE KEY":
                return PinnedMaterial(
                    .privateKey, subjectPublicKeyInfo: try PublicKeyBytes.ofPKCS1(bytes), source: name)
            case "EC PRIVATE KEY":
                return PinnedMaterial(.privateKey, subjectPublicKeyInfo: try PublicKeyBytes.ofSEC1(bytes), source: name)
            case "ENCRYPTED PRIVATE KEY":
                throw self.encrypted(name)
            case "TRUSTED CERTIFICATE":
                throw RepositoryError(
                    .file, "\(name): a certificate with trust settings of openssl's own",
                    hint: "openssl x509 -in FILE | tumbler pin -")
            default:
                // Parameters of a curve and the like stand beside what has a pin.
                return nil
            }
        } catch let failure as RepositoryError {
            throw failure
        } catch {
            throw self.unreadable(error, "\(document.label.lowercased()) number \(index + 1)", named: name)
        }
    }

    /// One structure in DER: which one it is, its frame says.
    private static func one(inDER bytes: [UInt8], named name: String) throws(RepositoryError) -> PinnedMaterial {
        let certificateDefect: InvalidCertificateError
        do throws(InvalidCertificateError) {
            return try PinnedMaterial(certificate: bytes, index: 0, source: name)
        } catch {
            certificateDefect = error
        }
        if let key = try? PublicKeyBytes.checked(bytes) {
            return PinnedMaterial(.publicKey, subjectPublicKeyInfo: key, source: name)
        }
        if let request = try? self.request(bytes, named: name) { return request }
        do {
            return PinnedMaterial(
                .privateKey, subjectPublicKeyInfo: try PublicKeyBytes.ofPrivateKey(bytes), source: name)
        } catch let error as PublicKeyBytes.NotDerivableError {
            throw self.unreadable(error, "private key", named: name)
        } catch {}
        if PublicKeyBytes.isEncrypted(bytes) { throw self.encrypted(name) }
        if certificateDefect == .trailingBytes {
            throw RepositoryError(.file, "\(name): DER with bytes after the end")
        }
        throw RepositoryError(
            .file, "\(name): neither PEM nor DER of a certificate, key or request",
            hint: "to ask a server, write HOST:PORT")
    }

    private static func request(_ bytes: [UInt8], named name: String) throws -> PinnedMaterial {
        let (key, subject) = try PublicKeyBytes.ofRequest(bytes)
        return PinnedMaterial(.request, subjectPublicKeyInfo: key, subject: subject, source: name)
    }

    private static func encrypted(_ name: String) -> RepositoryError {
        RepositoryError(.file, "\(name): the private key is encrypted", hint: self.openSSLHint)
    }

    private static func unreadable(_ error: any Error, _ what: String, named name: String) -> RepositoryError {
        switch error {
        case let defect as InvalidCertificateError:
            RepositoryError(.file, "\(name): \(what) cannot be read: \(defect)")
        case is PublicKeyBytes.NotDerivableError:
            RepositoryError(
                .file, "\(name): the public key cannot be derived from this private key", hint: self.openSSLHint)
        default:
            RepositoryError(.file, "\(name): \(what) cannot be read")
        }
    }
}
