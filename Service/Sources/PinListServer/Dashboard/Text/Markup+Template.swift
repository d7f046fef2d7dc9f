// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Mustache

extension Markup: MustacheCustomRenderable {
    /// The text that the template engine writes.
    var renderText: String { self.html }

    /// Whether a section of a template is left out: when there is nothing to write.
    var isNull: Bool { self.html.isEmpty }
}
