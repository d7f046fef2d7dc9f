// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListMetadata
import PinListRepository

/// What is wrong with publishing a root now: the list that clients have lacks signatures that it will ask for. Whoever
/// has the root would refuse that list, or hold it as superseded.
enum PublishedListWarning {
    /// The lines, one for each demand that is not met.
    ///
    /// - Parameters:
    ///   - root: The root that is signed.
    ///   - list: The envelope of the newest list; `nil` when there is none, and then nothing is wrong.
    static func lines(of root: Root, _ list: [UInt8]?) -> [String] {
        guard let list, let envelope = try? Envelope(list, of: .pins, limits: MetadataLimits()) else { return [] }
        return SignatureDemand.all(.pins, of: root).filter(\.isMadeHere).compactMap { demand in
            let missing = demand.missing(in: envelope)
            guard missing > 0 else { return nil }
            let what = demand.isHybrid ? "its hybrid demand" : "its threshold"
            let count = missing == 1 ? "1 signature" : "\(missing) signatures"
            return
                "\(ProjectFolder.listName) lacks \(count) for \(what): before root \(root.version) is published, publish "
                + "a list that meets it"
        }
    }
}
