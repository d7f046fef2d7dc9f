// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What detectors can see of the machine and of this process.
///
/// A protocol, so that every detector is tested on recorded observations, of attacked processes and of clean ones.
/// Nothing here changes anything, but for the questions of ``ObservedSandbox``, which only Apple's systems answer.
public protocol ObservedMachine: ObservedMemory, ObservedProcess, ObservedNetwork, ObservedFiles, ObservedSandbox,
    ObservedInstallation
{}
