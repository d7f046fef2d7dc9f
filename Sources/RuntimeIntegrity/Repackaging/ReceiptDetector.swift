// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Looks for the receipt that the store puts beside what it installs.
///
/// A weak sign: a restored device may have to ask for it again. In the store's test environment (TestFlight, the store's
/// review) there is none at first, so that its absence says nothing there.
public struct ReceiptDetector: TamperDetector {
    /// `receipt`.
    public let name = "receipt"
    /// Now and then.
    public let cost = DetectorCost.occasional

    private let declared: DeclaredDistribution?

    /// Creates the detector.
    ///
    /// - Parameter declared: How the app expects to have been distributed; with `nil` it says that it cannot judge.
    public init(_ declared: DeclaredDistribution?) { self.declared = declared }

    /// Looks whether there is one. What stands in it is not read.
    public func look(at machine: any ObservedMachine) -> DetectorAnswer {
        DetectorAnswer(of: self.name) { (signals) throws(Unobservable) in
            guard [.store, .testFlight].contains(self.declared?.distribution ?? .store) else { return }
            _ = try InstalledProgram(machine, declaring: self.declared)
            let path = try machine.receiptPath()
            guard try !machine.exists(path) else { return }
            guard self.declared?.distribution == .store, PrintableEvidence.name(ofPath: path) == "receipt" else {
                throw Unobservable(.missing, "receipt of the store's test environment")
            }
            signals.append(.init(.missingReceipt, .low, "the app has no receipt of the store"))
        }
    }
}
