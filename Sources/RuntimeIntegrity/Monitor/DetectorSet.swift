// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Who looks.
public struct DetectorSet: Sendable {
    /// The detectors.
    public var detectors: [any TamperDetector]

    /// Creates a set.
    public init(_ detectors: [any TamperDetector]) { self.detectors = detectors }

    /// Everything that this module has for this system.
    ///
    /// - Parameters:
    ///   - declared: What the app does itself that would look like somebody else's doing.
    ///   - ports: The ports of tools: those of Frida, by default.
    ///   - functions: Functions of the app that decide; their beginnings are looked at.
    public static func standard(
        _ declared: DeclaredBehaviour = DeclaredBehaviour(), ports: [UInt16] = AgentNames.ports,
        functions: [WatchedFunction] = []
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
        return Self(detectors)
    }
}
