// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A view of UIKit among those of SwiftUI.
@MainActor
public protocol UIViewRepresentable: View where Body == Never {
    /// The view.
    associatedtype UIViewType
    /// What is kept as long as the view.
    associatedtype Coordinator = Void
    /// Makes the view.
    func makeUIView(context: Context) -> UIViewType
    /// Brings it up to date.
    func updateUIView(_ uiView: UIViewType, context: Context)
    /// Makes what is kept.
    func makeCoordinator() -> Coordinator
    /// What the view is made with.
    typealias Context = UIViewRepresentableContext<Self>
}

extension UIViewRepresentable where Coordinator == Void {
    /// Nothing is kept.
    public func makeCoordinator() {}
}

extension UIViewRepresentable {
    /// It is made of nothing else.
    public var body: Never { fatalError("a view without a body") }
}

/// What a view of UIKit is made with.
@MainActor
public struct UIViewRepresentableContext<Representable: UIViewRepresentable> {
    /// What is kept as long as the view.
    public let coordinator: Representable.Coordinator
}
