// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@_spi(Tools) internal import CertificatePinning
public import Foundation

/// A root or a list that comes with the app.
public struct EmbeddedFile: Sendable {
    private enum Place: Sendable {
        case resource(String, bundle: String)
        case file(String)
        case bytes([UInt8])
    }

    private let place: Place

    /// A resource of a bundle.
    ///
    /// - Parameters:
    ///   - name: The name without the extension `json`.
    ///   - bundle: The bundle; the app's own by default.
    public static func bundled(_ name: String, in bundle: Bundle = .main) -> EmbeddedFile {
        EmbeddedFile(place: .resource(name, bundle: bundle.bundlePath))
    }

    /// A file.
    public static func file(_ path: String) -> EmbeddedFile { EmbeddedFile(place: .file(path)) }

    /// Bytes that are compiled in.
    public static func bytes(_ bytes: [UInt8]) -> EmbeddedFile { EmbeddedFile(place: .bytes(bytes)) }

    /// Reads the file.
    ///
    /// - Throws: ``PinningSetupError/Code/missing``.
    func read(_ what: String, maximumBytes: Int) throws(PinningSetupError) -> [UInt8] {
        let path: String
        switch self.place {
        case .bytes(let bytes): return bytes
        case .file(let given): path = given
        case .resource(let name, let bundle):
            guard let found = Bundle(path: bundle)?.path(forResource: name, ofType: "json") else {
                throw PinningSetupError(.missing, "there is no \(name).json in \(bundle); add the \(what) to the app")
            }
            path = found
        }
        do {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            defer { try? handle.close() }
            return try BoundedBytes.read(upTo: maximumBytes) { try handle.read(upToCount: $0) }
        } catch {
            throw PinningSetupError(.missing, "the \(what) \(path) cannot be read: \(error.localizedDescription)")
        }
    }
}
