// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if canImport(DeviceCheck)
internal import DeviceCheck
internal import Foundation
public import PinListClient

/// The device's own App Attest.
///
/// The app needs the capability "App Attest", whose entitlement `com.apple.developer.devicecheck.appattest-environment` says
/// `production` or `development`.
public struct DeviceAppAttest: AppAttestService {
    /// The device.
    public init() {}

    /// Whether the device has it: simulators do not, and most app extensions.
    public var isSupported: Bool {
        guard #available(watchOS 9, *) else { return false }
        return DCAppAttestService.shared.isSupported
    }

    /// Makes a key in the Secure Enclave.
    public func generateKey() async throws -> String {
        guard #available(watchOS 9, *) else { throw AppAttestError(.unsupported) }
        do { return try await DCAppAttestService.shared.generateKey() } catch { throw Self.failure(error) }
    }

    /// Has Apple attest a key.
    public func attestKey(_ keyID: String, clientDataHash: [UInt8]) async throws -> [UInt8] {
        guard #available(watchOS 9, *) else { throw AppAttestError(.unsupported) }
        do {
            return [UInt8](
                try await DCAppAttestService.shared.attestKey(keyID, clientDataHash: Data(clientDataHash)))
        } catch { throw Self.failure(error) }
    }

    /// Signs a request.
    ///
    /// What fails for no stated reason is taken for a key that is lost: devices answer so, again and again, for keys that they
    /// no longer have (google/app-check, pull request 96). A new key is made a day after the old one at the earliest.
    public func generateAssertion(_ keyID: String, clientDataHash: [UInt8]) async throws -> [UInt8] {
        guard #available(watchOS 9, *) else { throw AppAttestError(.unsupported) }
        do {
            return [UInt8](
                try await DCAppAttestService.shared.generateAssertion(keyID, clientDataHash: Data(clientDataHash)))
        } catch {
            if (error as? DCError)?.code == .unknownSystemFailure { throw AppAttestError(.invalidKey) }
            throw Self.failure(error)
        }
    }

    private static func failure(_ error: any Error) -> AppAttestError {
        switch (error as? DCError)?.code {
        case .featureUnsupported: AppAttestError(.unsupported)
        // A hash of 32 bytes has the right form: what has not is the key id.
        case .invalidKey, .invalidInput: AppAttestError(.invalidKey)
        case .serverUnavailable: AppAttestError(.appleUnavailable)
        default: AppAttestError(.failed)
        }
    }
}

#if canImport(Security)
/// A store of the key's id in the Keychain, on this device alone, for this program alone.
///
/// A key of App Attest belongs to one bundle identifier, that of an app or of an extension. The Keychain may not: with Keychain
/// Sharing an item of one app is found by all apps of the group (Apple, `kSecAttrAccessGroup`). So the account of the item
/// has the bundle identifier in it.
public struct KeychainAttestationKey: AttestationKeyStore {
    /// This app, or this extension; for a program without a bundle its name.
    static var program: String { Bundle.main.bundleIdentifier ?? ProcessInfo.processInfo.processName }

    private let keychain: Keychain
    private let account: String

    /// The key of a list's service.
    public init(name: String) { self.init(name: name, of: Self.program) }

    /// The key of a program.
    init(name: String, of program: String) {
        self.keychain = Keychain(service: "tumbler.attestation", accessGroup: nil)
        self.account = "\(program)/\(name)"
    }

    /// The stored bytes.
    ///
    /// - Throws: `StateStoreError` where the Keychain cannot be read.
    public func load() throws -> [UInt8]? {
        switch self.keychain.read(self.account) {
        case .absent: return nil
        case .bytes(let bytes): return bytes.isEmpty ? nil : bytes
        case .unreadable(let reason): throw StateStoreError(reason)
        case .unavailable: throw StateStoreError("the Keychain cannot be used by this program")
        }
    }

    /// Stores bytes.
    ///
    /// - Throws: `StateStoreError` where the Keychain does not keep them.
    public func save(_ bytes: [UInt8]?) throws {
        guard try self.keychain.write(bytes ?? [], self.account) else {
            throw StateStoreError("the Keychain cannot be used by this program")
        }
    }
}

extension AppAttestClient {
    /// The client of an app: this device, the Keychain and URLSession.
    ///
    /// - Parameters:
    ///   - name: The list's name, or a name for the app's own server.
    ///   - origin: The origin of the service: scheme, host and port, as `https://pins.example.com`. Nothing is sent to
    ///     any other. `nil` for a server of the app's own: nothing is sent at all.
    public init(name: String, origin: String? = nil) {
        self.init(name: name, origin: origin, of: KeychainAttestationKey.program)
    }

    /// The client of a program.
    init(name: String, origin: String? = nil, of program: String) {
        // No list has a slash in its name: a key for reports and one for a server may have one name.
        let account = origin == nil ? "server/\(name)" : name
        self.init(
            name: name, origin: origin, service: DeviceAppAttest(),
            keys: KeychainAttestationKey(name: account, of: program))
    }
}
#endif
#endif
