// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PinListMetadata
import PinListRepository

/// Lists as tests build them.
enum PinListBuilt {
    /// The list of a source, at the time of tests.
    static func list(
        _ source: ListSource, after newest: PinList? = nil, at time: Timestamp = SourceText.now
    ) throws(RepositoryError) -> PinList {
        try PinList(building: source, after: newest, at: time)
    }

    /// The list of a text.
    static func list(
        _ text: String, after newest: PinList? = nil, at time: Timestamp = SourceText.now
    ) throws(RepositoryError) -> PinList {
        try self.list(try SourceText.read(text), after: newest, at: time)
    }
}
