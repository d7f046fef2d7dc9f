// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
@_spi(Tools) import CertificatePinning
import Foundation
import NIOSSL
public import PathValidation
public import PinListClient

/// The anchors of a TLS configuration as a root store.
public enum TrustedRoots {
    /// The paths of systems' bundles: Debian and derivatives, Fedora and derivatives, Alpine.
    public static let systemBundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
    ]

    /// The maximum length of a file of roots in bytes; a system's bundle has about 220,000.
    public static let maximumBytes = 16_777_216

    /// The anchors of the system.
    ///
    /// - Throws: `PinningSetupError.Code.configuration` when the system has no bundle, or one without a root.
    public static func system() throws(PinningSetupError) -> RootStore {
        try self.system(self.systemBundles)
    }

    /// The anchors of the first of these bundles that is there.
    static func system(_ bundles: [String]) throws(PinningSetupError) -> RootStore {
        guard let bundle = bundles.first(where: { FileManager.default.isReadableFile(atPath: $0) }) else {
            throw PinningSetupError(
                .configuration, "this system has no bundle of roots; install ca-certificates, or name the trust roots")
        }
        let store = RootStore(certificates: try self.certificates(inFile: bundle))
        guard store.count > 0 else {
            throw PinningSetupError(
                .configuration,
                "\(bundle) has no root that can be used; run update-ca-certificates, or name the trust roots")
        }
        return store
    }

    /// The anchors of a configuration: its trust roots, or the system's, and the additional ones.
    static func store(for configuration: TLSConfiguration) throws(PinningSetupError) -> RootStore {
        if configuration.additionalTrustRoots.isEmpty {
            switch configuration.trustRoots {
            case nil, .default: return try self.system()
            default: break
            }
        }
        var anchors: [[UInt8]] = []
        switch configuration.trustRoots {
        case .file(let path): anchors = try self.certificates(inFile: path)
        case .certificates(let certificates): anchors = try self.encoded(certificates)
        case nil, .default:
            guard let bundle = self.systemBundles.first(where: { FileManager.default.isReadableFile(atPath: $0) })
            else { break }
            anchors = try self.certificates(inFile: bundle)
        }
        for additional in configuration.additionalTrustRoots {
            switch additional {
            case .file(let path): anchors += try self.certificates(inFile: path)
            case .certificates(let certificates): anchors += try self.encoded(certificates)
            }
        }
        let store = RootStore(certificates: anchors)
        guard store.count > 0 else {
            throw PinningSetupError(.configuration, "the TLS configuration has no root that can be used")
        }
        return store
    }

    private static func encoded(_ certificates: [NIOSSLCertificate]) throws(PinningSetupError) -> [[UInt8]] {
        do {
            return try certificates.map { try $0.toDERBytes() }
        } catch {
            throw PinningSetupError(.configuration, "a trust root of the TLS configuration cannot be read: \(error)")
        }
    }

    private static func certificates(inFile path: String) throws(PinningSetupError) -> [[UInt8]] {
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? handle.close() }
            let bytes = try BoundedBytes.read(upTo: self.maximumBytes) { try handle.read(upToCount: $0) }
            guard bytes.count <= self.maximumBytes else {
                throw PinningSetupError(.configuration, "\(path) is over \(self.maximumBytes) bytes")
            }
            return try PEMBlock.blocks(in: bytes).filter { $0.label == PEMBlock.certificateLabel }.map(\.bytes)
        } catch let error as PinningSetupError {
            throw error
        } catch {
            // This includes folders of certificates: only a file can be read whole and counted.
            throw PinningSetupError(.configuration, "the trust roots in \(path) cannot be read: \(error)")
        }
    }
}
#endif
