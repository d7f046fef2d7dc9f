// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension StoreError.Code {
    /// Whether a change was made is unknown: the connection was lost while it was committed. All of it was made, or
    /// nothing; the caller checks, or repeats what may be done twice.
    package static let unknownOutcome = StoreError.Code(description: "unknown-outcome")
    /// The server ended a statement that took longer than it may, or that its administrator ended: the database is there,
    /// and nothing of the change was made.
    package static let timedOut = StoreError.Code(description: "timed-out")
    /// The role has no right to it: the database is there, and stays as it is until its owner grants what is missing.
    package static let notPermitted = StoreError.Code(description: "not-permitted")
}

extension StoreError {
    /// Translates an error of the server on a statement into an error of the store.
    ///
    /// - Parameters:
    ///   - state: Its SQLSTATE, five characters (PostgreSQL's documentation, appendix A).
    ///   - message: Its primary message, without the detail, which would hold values.
    init(sqlState state: String, message: String) {
        let code: Code =
            switch state {
            case "53100": .full
            case "55P03", "40P01", "40001": .busy
            case Self.canceled: .timedOut
            // Class 42 is that of missing tables, too: a missing right is no damage.
            case Self.forbidden: .notPermitted
            default: Self.damageClasses.contains(String(state.prefix(2))) ? .damaged : .unavailable
            }
        let advice =
            switch state {
            case Self.canceled:
                "; nothing of it was changed; pg_stat_activity says what keeps the server busy, and VACUUM ANALYZE makes"
                    + " statements on tables that changed much faster"
            case Self.forbidden: "; the owner of the tables grants it: docs/guides/service-on-postgresql.md"
            default: ""
            }
        self.init(code, (state.isEmpty ? message : "\(message) (SQLSTATE \(state))") + advice)
    }

    /// The SQLSTATE of a statement that the server ended: it took too long, or an administrator ended it.
    private static let canceled = "57014"
    /// The SQLSTATE of a right that the role has not.
    private static let forbidden = "42501"

    /// Data, names and tables that are not as this version writes them; an index or a page that is broken.
    private static let damageClasses: Set<String> = ["22", "3F", "42", "XX"]

    /// The message of libpq, in one line.
    static func text(_ message: UnsafePointer<CChar>?) -> String {
        guard let message else { return "no reason was given" }
        // Its second line begins with a tab.
        let lines = String(cString: message).split(whereSeparator: \.isNewline)
            .map { $0.drop(while: \.isWhitespace) }.filter { !$0.isEmpty }
        return lines.isEmpty ? "no reason was given" : lines.joined(separator: "; ")
    }
}
