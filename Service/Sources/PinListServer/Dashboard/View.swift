// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Mustache

/// The values that a template is filled with: markup, other views and conditions by their names, and nothing else.
///
/// A name that is not there is empty, also where a view stands around this one that has it: each part of a page says
/// by itself what it shows.
struct View: Sendable, MustacheParent {
    /// One value.
    enum Value: Sendable, ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
        /// Text or HTML.
        case markup(Markup)
        /// A part that is there once or not at all.
        case view(View?)
        /// A part that is there several times.
        case views([View])
        /// Whether a part is there.
        case flag(Bool)

        /// A constant.
        init(stringLiteral: String) { self = .markup(Markup(stringLiteral: stringLiteral)) }

        /// A constant with values, which are escaped.
        init(stringInterpolation: Markup.Interpolation) {
            self = .markup(Markup(stringInterpolation: stringInterpolation))
        }
    }

    private let values: [String: Value]

    /// A view.
    init(_ values: [String: Value]) { self.values = values }

    /// Returns the value of a name for the template engine.
    func child(named name: String) -> Any? {
        switch self.values[name] {
        case .markup(let markup): markup
        case .view(let view?): view
        case .views(let views): views
        case .flag(let flag): flag
        case .view(nil), nil: Markup("")
        }
    }
}
