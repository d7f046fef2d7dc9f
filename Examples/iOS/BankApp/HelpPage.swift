// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PinningURLSession
import SwiftUI
import WebKit

/// A web view whose connections are pinned.
struct HelpPage: UIViewRepresentable {
    let pinning: Pinning

    /// Kept for as long as the view: a web view does not keep its delegate.
    func makeCoordinator() -> PinnedNavigationDelegate { PinnedNavigationDelegate(by: self.pinning) }

    func makeUIView(context: Context) -> WKWebView {
        let view = WKWebView()
        view.navigationDelegate = context.coordinator
        if let url = URL(string: "https://help.example.com/") { view.load(URLRequest(url: url)) }
        return view
    }

    func updateUIView(_ view: WKWebView, context: Context) {}
}
