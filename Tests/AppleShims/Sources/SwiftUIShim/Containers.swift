// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Views below each other.
public struct VStack<Content: View>: View {
    let content: Content

    /// Views below each other.
    public init(@ViewBuilder content: () -> Content) { self.content = content() }

    /// It is made of nothing else.
    public var body: Never { fatalError("a view without a body") }
}

/// Something to press.
public struct Button: View {
    /// A button with a text.
    public init(_ title: some StringProtocol, action: @escaping @MainActor () -> Void) {}

    /// It is made of nothing else.
    public var body: Never { fatalError("a view without a body") }
}

/// Several views.
public struct TupleView<each Content: View>: View {
    let content: (repeat each Content)

    /// It is made of nothing else.
    public var body: Never { fatalError("a view without a body") }
}

/// One of two views.
public enum ConditionalView<First: View, Second: View>: View {
    /// The first.
    case first(First)
    /// The second.
    case second(Second)

    /// It is made of nothing else.
    public var body: Never { fatalError("a view without a body") }
}

extension ViewBuilder {
    /// Several views.
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<repeat each Content>
    {
        TupleView(content: (repeat each content))
    }

    /// The first of two.
    public static func buildEither<First: View, Second: View>(first: First) -> ConditionalView<First, Second> {
        .first(first)
    }

    /// The second of two.
    public static func buildEither<First: View, Second: View>(second: Second) -> ConditionalView<First, Second> {
        .second(second)
    }
}

/// A view's own state.
@MainActor
@propertyWrapper
public struct State<Value> {
    private final class Box {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    private let box: Box

    /// It begins with a value.
    public init(wrappedValue: Value) { self.box = Box(wrappedValue) }

    /// The value.
    public var wrappedValue: Value {
        get { self.box.value }
        nonmutating set { self.box.value = newValue }
    }
}
