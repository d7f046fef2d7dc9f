// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The detectors of a monitor.
public struct DetectorSet: Sendable {
    /// The detectors.
    public var detectors: [any TamperDetector]

    /// Creates a set.
    public init(_ detectors: [any TamperDetector]) { self.detectors = detectors }

    /// All detectors of this module for this system.
    ///
    /// - Parameters:
    ///   - declared: The declared behaviour of the app.
    ///   - ports: The ports of tools: those of Frida, by default.
    ///   - functions: Functions of the app that decide; their beginnings are looked at.
    ///   - distribution: The expected distribution of the app, for Apple's systems; with `nil` a blind spot says that
    ///     it cannot be evaluated. A debug build is not evaluated either.
    public static func standard(
        _ declared: DeclaredBehaviour = DeclaredBehaviour(), ports: [UInt16] = AgentNames.ports,
        functions: [WatchedFunction] = [], distribution: DeclaredDistribution? = nil
    ) -> Self {
        var detectors: [any TamperDetector] = [
            MappingDetector(declared), PageDetector(.connection), StatusDetector(declared),
            ConnectionDetector(ports: ports), PageDetector(.occasional), ThreadDetector(), DescriptorDetector(),
            PortDetector(ports: ports), PreloadDetector(declared), ParentDetector(), ImageDetector(),
        ]
        if !functions.isEmpty { detectors.append(BreakpointDetector(functions)) }
        #if os(Linux)
        detectors += [CopyDetector(), FunctionDetector(), CodeDetector(), ImportDetector()]
        #endif
        #if os(iOS) && !targetEnvironment(simulator) && !targetEnvironment(macCatalyst)
        let name = String(UInt64.random(in: .min ... .max), radix: 16)
        detectors += [
            JailbreakFileDetector(), JailbreakLinkDetector(), SandboxDetector(fileName: name), SchemeDetector(),
        ]
        #endif
        #if canImport(Darwin) && !targetEnvironment(simulator)
        detectors += Self.repackaging(distribution)
        #endif
        return Self(detectors)
    }

    /// The detectors of the app's distribution.
    ///
    /// - Parameters:
    ///   - declared: The expected distribution; with `nil` one of them says that it cannot evaluate.
    ///   - isDebugBuild: Whether Xcode may have signed for development.
    static func repackaging(
        _ declared: DeclaredDistribution?, isDebugBuild: Bool = TamperPolicy.isDebugBuild
    ) -> [any TamperDetector] {
        guard var declared else { return [SignatureDetector(nil)] }
        if isDebugBuild { declared.distribution = .development }
        return [SignatureDetector(declared), ProfileDetector(declared), ReceiptDetector(declared)]
    }
}
