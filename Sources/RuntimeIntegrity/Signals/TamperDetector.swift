// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks at one thing.
///
/// A value. It sees the machine through ``ObservedMachine`` only, so that each is tested on what real machines showed.
public protocol TamperDetector: Sendable {
    /// What it is called where it could not look.
    var name: String { get }

    /// How much time it takes.
    var cost: DetectorCost { get }

    /// Looks once. It may hold where things are, and an answer for as long as all that it rests on is seen to be the same.
    func look(at machine: any ObservedMachine) -> DetectorAnswer
}
