// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import SimulatedInstallations

extension Population {
    /// Does what a line asks for.
    func answer(_ line: String) async -> PopulationAnswer {
        switch PopulationCommand(line) {
        case .refresh(let first): await self.refresh(first: first)
        case .fetch(let port, let intercepted, let interceptor):
            await self.fetch { $0 < intercepted ? interceptor : port }
        case .reports(let total): await self.reports(total)
        case nil: PopulationAnswer(did: .nothing)
        }
    }
}
