// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

@testable import RuntimeIntegrity

/// An image with many slots, or with any name: what no small file has.
struct ManySlots: ExecutableImage {
    /// How many slots, of 8 bytes each from the beginning on.
    var count = 0
    /// Whether it has every name, at its beginning.
    var hasNames = false
    /// What it needs, and what of that it gives on.
    var libraries: [String] = []
    var reexports: [String] = []

    let architecture = CodeArchitecture.x86
    let bytes = ExecutableBytes([])
    let base: UInt64 = 0
    let identifier: [UInt8] = []
    let ownName: String? = nil
    let comparableCode: [ImageSegment] = []
    let relocatedCode: [CodeRange] = []
    let segments = [
        ImageSegment(
            address: 0, memorySize: 4_096, fileOffset: 0, fileSize: 4_096, isExecutable: true, isWritable: false)
    ]

    func definitions(of name: String) -> [ImageSymbol] {
        self.hasNames ? [ImageSymbol(name: name, address: 0, size: 1, kind: .function)] : []
    }

    func functions(named names: Set<String>) -> [String: [ImageSymbol]] { [:] }

    func symbols(at addresses: Set<UInt64>) -> [UInt64: ImageSymbol] { [:] }

    func forEachImportSlot(
        unless isRight: (_ address: UInt64, _ own: UInt64) -> Bool, _ body: (ImportSlot) -> Bool
    ) throws(ImageError) {
        for index in 0..<self.count {
            let slot = ImportSlot(
                address: UInt64(index * 8), kind: .call, symbol: "name\(index)", addend: 0, isWeak: false,
                ownAddress: nil, unboundAddress: nil, isSigned: false, isVariable: false)
            guard body(slot) else { return }
        }
    }
}
