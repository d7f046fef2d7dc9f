// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import PathValidation

/// The root stores of a batch: many questions name the same few.
actor RootStoreCache {
    /// The most stores that are kept; the cache is emptied when there are more.
    private static let maximumCount = 64

    private var stores: [[String]: RootStore] = [:]

    /// The store of some PEM texts.
    ///
    /// - Throws: ``InputError`` when they hold no root that can be used.
    func store(for texts: [String]) throws(InputError) -> RootStore {
        if let store = self.stores[texts] { return store }
        var certificates: [[UInt8]] = []
        for text in texts { certificates += try BatchQuestion.certificates(in: text) }
        let store = RootStore(certificates: certificates)
        if self.stores.count >= Self.maximumCount { self.stores.removeAll() }
        self.stores[texts] = store
        return store
    }
}
