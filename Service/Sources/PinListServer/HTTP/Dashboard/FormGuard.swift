// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Crypto
internal import HTTPTypes
internal import Hummingbird
internal import PinListMetadata

/// Keeps pages of strangers from posting our forms: where the browser says that they come from, and a token that only
/// our pages hold.
struct FormGuard: Sendable {
    /// Random, for those who are not logged in: where ``ServiceConfiguration/isOpen`` says so.
    let key: [UInt8]

    /// The token of a form for whoever asks. Made of the log-in, so that every instance of the service knows it.
    func token(for request: Request) -> String {
        let secret = request.cookies[AdminAccess.cookie].map { Array($0.value.utf8) } ?? self.key
        return Hexadecimal.text(of: SHA256.hash(data: Array("tumbler form ".utf8) + secret))
    }

    /// Refuses a form that is not ours.
    ///
    /// - Throws: ``Problem``.
    func check(_ form: [String: String], _ request: Request) throws {
        guard AdminAccess.isOfThisSite(request), form[PageFrame.tokenField] == self.token(for: request) else {
            throw Problem(.forbidden, "foreign-form", "this form came from another site, or its page is old; reload it")
        }
    }
}
