// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// An app (iOS 14). Here nothing is started.
@MainActor
public protocol App {
    /// Its windows.
    associatedtype Body: Scene
    /// Its windows.
    @SceneBuilder var body: Body { get }
    /// Makes it.
    init()
}

extension App {
    /// Begins: here it makes the app, and looks at its body.
    public static func main() { _ = Self().body }
}

/// A window, or more of one kind (iOS 14).
@MainActor
public protocol Scene {
    /// What it is made of.
    associatedtype Body: Scene
    /// What it is made of.
    @SceneBuilder var body: Body { get }
}

extension Never: Scene {}

/// Puts scenes together.
@resultBuilder
@MainActor
public enum SceneBuilder {
    /// One scene: more than one is not simulated.
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}

/// Windows with the same content.
public struct WindowGroup<Content: View>: Scene {
    let content: Content

    /// Windows with this content.
    public init(@ViewBuilder content: () -> Content) { self.content = content() }

    /// It is made of nothing else.
    public var body: Never { fatalError("a scene without a body") }
}
