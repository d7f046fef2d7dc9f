// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import PinListStore

/// A token as the page *Audit log* shows it: what it opens, what it is for, whose it is, and until when. Never its secret.
struct TokenViewModel: Sendable {
    var id: String
    var scope: String
    /// The lists that it is bound to; none for those that read.
    var names: [String]
    var label: String
    var owner: String
    var madeAt: Timestamp
    var end: End

    /// The end of a token's rights.
    enum End: Hashable, Sendable {
        /// The token is valid until it is revoked.
        case open
        /// The token is valid until a time in the future.
        case ends(Timestamp)
        /// The token has expired.
        case ended(Timestamp)
        /// The token was revoked.
        case revoked(Timestamp)
    }

    /// The view of its row.
    func view(_ frame: PageFrame) -> View {
        let state: Markup =
            switch self.end {
            case .open: "valid"
            case .ends(let time): "valid until \(frame.times.full(time))"
            case .ended(let time): "ended \(frame.times.full(time))"
            case .revoked(let time): "revoked \(frame.times.full(time))"
            }
        return View([
            "id": .markup(VisibleText.line(self.id, limit: 32)),
            "scope": .markup(VisibleText.line(self.scope, limit: 16)),
            "names": .markup(self.names.isEmpty ? "all" : VisibleText.folded(self.names.joined(separator: ", "))),
            "label": .markup(self.label.isEmpty ? "" : VisibleText.folded(self.label)),
            "owner": .markup(self.owner.isEmpty ? "" : VisibleText.folded(self.owner)),
            "made": .markup(frame.times.full(self.madeAt)), "state": .markup(state),
        ])
    }
}

extension TokenViewModel {
    /// A token as it is at a time.
    init(_ token: AccessToken, at now: Timestamp) {
        let state: End =
            if let revoked = token.revokedAt {
                .revoked(revoked)
            } else if let end = token.endsAt {
                now < end ? .ends(end) : .ended(end)
            } else {
                .open
            }
        self.init(
            id: token.id, scope: token.scope.rawValue, names: token.names, label: token.label, owner: token.owner,
            madeAt: token.madeAt, end: state)
    }
}
