// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import SwiftUI

/// The balance, and a page of help.
struct AccountView: View {
    let bank: Bank
    @State private var balance = "…"

    var body: some View {
        VStack {
            Text(self.balance)
            Button("Refresh") { Task { self.balance = await self.bank.balance() } }
            HelpPage(pinning: self.bank.pinning)
        }
        .task { self.balance = await self.bank.balance() }
    }
}
