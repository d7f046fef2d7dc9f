// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@testable import RuntimeParsers

/// Programs with signatures, thin and fat: as they lie on a device of another owner.
enum CodeSignatureBytes: FuzzTarget {
    static let name = "code-signature"

    static func check(_ bytes: [UInt8]) {
        let meter = ReadMeter(bytes)
        let declared = DeclaredDistribution(.store, team: "A1B2C3D4E5", bundleIdentifier: "com.example.bank")
        guard let program = try? SignedProgram(meter.bytes) else { return }
        precondition((1...ImageLimits.slices).contains(program.parts.count))
        for part in program.parts {
            if let signature = part.signature { self.check(signature, bytes.count) }
            self.check(SignatureDetector.signals(part.signature, declared), of: part.signature, declared)
        }
        precondition(meter.reads <= ReadMeter.maximumReads, "\(meter.reads) reads")
        precondition(meter.bytesRead <= ReadMeter.maximumBytes, "\(meter.bytesRead) bytes read")
    }

    /// Checks that what is held is within its limits, and that all of the CodeDirectory is hashed.
    private static func check(_ signature: CodeSignature, _ count: Int) {
        let directory = signature.directory
        // Text that is not UTF-8 is replaced by three bytes.
        precondition(directory.identifier.utf8.count <= 3 * SignatureLimits.nameLength)
        precondition(directory.team?.utf8.count ?? 0 <= 3 * SignatureLimits.nameLength)
        let hash = try? directory.hash { hashed in
            precondition(UInt64(hashed.count) == directory.count)
            precondition(hashed.count <= min(count, SignatureLimits.hashedBytes))
            return Array(hashed.prefix(32))
        }
        precondition(hash.map { $0.bytes.count == CodeDirectoryHash.count } ?? true)
    }

    /// A program is silent only where everything is as it was declared, and says nothing that does not belong into a log.
    private static func check(
        _ signals: [TamperSignal], of signature: CodeSignature?, _ declared: DeclaredDistribution
    ) {
        for signal in signals { precondition(signal.evidence.utf8.allSatisfy { (0x20...0x7E).contains($0) }) }
        guard signals.isEmpty else { return }
        precondition(signature?.isByCertificate == true && signature?.directory.team == declared.team)
        precondition(signature?.directory.identifier == declared.bundleIdentifier)
        precondition(signature?.entitlements?.letsDebuggersAttach != true)
    }
}
