// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@testable import RuntimeIntegrity

/// What detectors say of a machine.
struct Looking {
    var names: Set<SignalName> = []
    var confidences: Set<Confidence> = []
    var blind: Set<String> = []

    /// Asks all detectors of a set, or those that are quick.
    init(_ set: DetectorSet = .standard(), _ cost: DetectorCost? = nil, at machine: RecordedMachine) {
        for detector in set.detectors where cost == nil || detector.cost == cost {
            let answer = detector.look(at: machine)
            self.names.formUnion(answer.signals.map(\.name))
            self.confidences.formUnion(answer.signals.map(\.confidence))
            self.blind.formUnion(answer.blindSpots.map(\.detector))
        }
    }
}

extension DetectorSet {
    /// Those that need no file of a program: recordings have none.
    static var ofRecordings: DetectorSet {
        DetectorSet(DetectorSet.standard().detectors.filter { !["functions", "code", "imports"].contains($0.name) })
    }
}
