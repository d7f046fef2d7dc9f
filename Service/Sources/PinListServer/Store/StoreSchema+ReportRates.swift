// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension StoreSchema {
    /// What the third migration changes of how many installations report.
    static func reportRates(_ dialect: Dialect) -> [String] { [] }
}
