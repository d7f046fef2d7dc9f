// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A part of what is seen. Here nothing is drawn.
@MainActor
public protocol View {
    /// What it is made of.
    associatedtype Body: View
    /// What it is made of.
    @ViewBuilder var body: Body { get }
}

extension Never: View {
    /// There is none.
    public var body: Never { fatalError("a view without a body") }
}

/// A text.
public struct Text: View {
    let content: String

    /// Shows a text.
    public init(_ content: some StringProtocol) { self.content = String(content) }

    /// It is made of nothing else.
    public var body: Never { fatalError("a view without a body") }
}

/// Nothing.
public struct EmptyView: View {
    /// Shows nothing.
    public init() {}

    /// It is made of nothing else.
    public var body: Never { fatalError("a view without a body") }
}

/// Puts views together.
@resultBuilder
@MainActor
public enum ViewBuilder {
    /// Nothing.
    public static func buildBlock() -> EmptyView { EmptyView() }

    /// One view: more than one is not simulated.
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
}

extension View {
    /// Runs something while the view is seen (iOS 15). Never run here.
    public func task(
        priority: TaskPriority = .userInitiated, @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View {
        self
    }
}
