// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinningURLSession
import SwiftUI

/// An app that pins its bank's hosts by a signed list.
@main
struct BankApp: App {
    /// Made once, at the start. A build whose list does not verify is damaged, and must not go on unpinned.
    private let bank = Result { try Bank() }

    var body: some Scene {
        WindowGroup {
            switch self.bank {
            case .success(let bank): AccountView(bank: bank).task { await bank.pinning.run() }
            case .failure(let error): DamagedBuildView(reason: "\(error)")
            }
        }
    }
}

/// The view of a build that must not run.
struct DamagedBuildView: View {
    let reason: String

    var body: some View {
        VStack {
            Text("This app is damaged. Please install it again.")
            Text(self.reason)
        }
    }
}
