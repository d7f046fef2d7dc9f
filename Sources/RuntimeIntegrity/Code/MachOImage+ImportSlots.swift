// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The slots of a Mach-O image: pointers that are bound to names, as either generation of linkers describes them.
extension MachOImage {
    /// Goes through the chains, or runs the programs in the order that the loader has.
    func forEachImportSlot(
        unless isRight: (_ address: UInt64, _ own: UInt64) -> Bool, _ body: (ImportSlot) -> Bool
    ) throws(ImageRefusal) {
        if let part = self.header.chainedFixups {
            var fixups = MachOChainedFixups(self, part)
            return try fixups.forEach(body)
        }
        // Names of which several images may have the one that counts (C++) are bound twice: from a library, then from the
        // first image that has them. Where there are some, no library that is named counts.
        let isWithoutWeak = self.header.binds.dropFirst().first.map { $0.count == 0 } ?? true
        for (index, part) in self.header.binds.enumerated() {
            var program = MachOBindProgram(self, part, isLazy: index == 2, namesLibraries: isWithoutWeak)
            guard try program.run(body) else { return }
        }
    }
}
