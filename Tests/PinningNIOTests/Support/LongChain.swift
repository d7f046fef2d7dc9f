// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// A root with five intermediates, each below the one before it: chains of any length up to six.
struct LongChain {
    let root: TestCertificate
    /// From the root down.
    let intermediates: [TestCertificate]
    private let leafKeys: TestPKI.Keys

    /// Makes the CAs, all with keys of a kind.
    init(_ keys: TestPKI.Keys, name: String = "long", intermediates count: Int = 5) throws {
        let now = TestPKI.now
        self.root = try .authority("\(name) root", key: keys.new()) { $0.around(now) }
        var intermediates: [TestCertificate] = []
        for number in 0..<count {
            let issuer = intermediates.last ?? self.root
            intermediates.append(
                try .authority("\(name) issuing \(number + 1)", by: issuer, key: keys.new()) { $0.around(now) })
        }
        self.intermediates = intermediates
        self.leafKeys = keys
    }

    /// What a server presents: a new leaf, and the intermediates above it, the root left out.
    func chain(for host: String, certificates: Int) throws -> [TestCertificate] {
        let above = self.intermediates.prefix(certificates - 1).reversed()
        return [try TestPKI.leaf([host], by: above.first ?? self.root, key: self.leafKeys.new())] + above
    }
}
#endif
