// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension StoreSchema {
    /// What the third migration changes of reports.
    static func reports(_ dialect: Dialect) -> [String] { [] }
}
