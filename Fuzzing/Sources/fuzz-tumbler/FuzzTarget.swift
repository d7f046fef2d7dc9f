// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A target of libFuzzer: one parser of bytes from outside.
///
/// A target ends the process (`precondition`) when what must always hold does not; a trap within the parser does too.
protocol FuzzTarget: SendableMetatype {
    /// The name in FUZZ_TARGET.
    static var name: String { get }

    /// Reads some bytes and checks what must hold of the result.
    static func check(_ bytes: [UInt8])

    /// Inputs to begin with that no script can make: signed by keys that the target knows.
    static var seeds: [[UInt8]] { get }
}

extension FuzzTarget {
    /// None; scripts/fuzz-seeds has some.
    static var seeds: [[UInt8]] { [] }
}

/// All targets.
private let targets: [any FuzzTarget.Type] = [
    CertificateWalk.self, PinText.self, HostNormaliser.self, PEMText.self, EnvelopeBytes.self, RootPayload.self,
    PinsPayload.self, ReportQueueBytes.self, YAMLSource.self, ScenarioSource.self, StoredState.self,
    RequestTargetText.self, PresentedChainBytes.self, AndroidConfigurationText.self, OkHttpSourceText.self,
    PropertyListBytes.self, ReportAnswer.self, ReportBodies.self, RequestFields.self, DashboardText.self,
    ExecutableFileBytes.self, ProcessText.self, PathExtensionBytes.self, GateRecordText.self,
    RotationPlanBytes.self, CodeSignatureBytes.self, ProvisioningProfileBytes.self,
    ListRequestBytes.self, ReportRequestBytes.self, TimestampListBytes.self, LoggedCertificateBytes.self,
    LogListText.self, CBORBytes.self,
    AuthenticatorDataBytes.self, AttestationReceiptBytes.self, SightingBytes.self, InterceptedBytes.self,
    ZipArchiveBytes.self, ProgramNameBytes.self, RevocationListBytes.self, AttestedRequestBytes.self,
]

/// The target of this run.
private let target: any FuzzTarget.Type = {
    let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
    guard let target = targets.first(where: { $0.name == name }) else {
        fatalError("set FUZZ_TARGET to one of: \(targets.map { $0.name }.joined(separator: ", "))")
    }
    return target
}()

/// The function that libFuzzer calls.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target.check(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>,
    _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The entry point under the name that SwiftPM gives the `main` of this module.
@_cdecl("fuzz_tumbler_main")
public func fuzzMain(_ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?) -> CInt {
    if let folder = ProcessInfo.processInfo.environment["FUZZ_SEEDS"] {
        for (index, seed) in target.seeds.enumerated() {
            FileManager.default.createFile(atPath: "\(folder)/seed-own-\(index)", contents: Data(seed))
        }
        return 0
    }
    var count = count
    var arguments = arguments
    return runDriver(&count, &arguments, fuzzOneInput)
}
