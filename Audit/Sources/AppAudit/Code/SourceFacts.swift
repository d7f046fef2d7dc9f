// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The facts of a source file: findings that stand by themselves, and those that only the whole app can decide.
struct SourceFacts {
    /// A session, and what answers its challenges.
    struct Session {
        let kind: String
        let rule: AuditRule
        let line: Int
        /// The type of its delegate; `nil` where it cannot be seen.
        let delegate: String?
        /// Whether it is the delegate of this session, and not of another one in the file.
        let isSure: Bool
    }

    /// A digest in a literal.
    struct PinLiteral {
        let digest: [UInt8]
        let line: Int
        /// The host that stands beside it.
        let host: String?
        /// Whether its surroundings say that it is a pin; one without is compared with certificates alone.
        let isNamed: Bool
    }

    let text: SourceText
    var findings: [AuditFinding] = []
    /// The number of findings that are not kept.
    private(set) var leftOut = 0
    var surfaces: [NetworkSurface] = []
    var sessions: [Session] = []
    var pins: [PinLiteral] = []
    /// Types that answer challenges, and how.
    var handlers: [String: NetworkSurface.Pinning] = [:]
    /// Types that are declared here.
    var types: Set<String> = []
    /// Names of lists that the code ships (`.bundled("…")`).
    var bundledLists: [(name: String, line: Int)] = []
    /// Cleartext addresses, for the list.
    var cleartextHosts: [(host: String, line: Int)] = []

    init(_ text: SourceText) { self.text = text }

    /// Notes a finding at a line; in debug builds alone an error is a warning.
    mutating func find(_ rule: AuditRule, at line: Int, isDebug: Bool = false, _ message: String) {
        guard self.findings.count < Auditor.Limits.findings else {
            self.leftOut += 1
            return
        }
        let severity: AuditRule.Severity? = isDebug && rule.severity == .error ? .warning : nil
        let said = isDebug ? "\(message) (in debug builds alone)" : message
        self.findings.append(self.text.finding(rule, severity, line: line, said))
    }

    /// Notes a surface, and a finding where nothing pins it.
    mutating func surface(
        _ kind: String, _ pinning: NetworkSurface.Pinning, _ rule: AuditRule, at line: Int, isDebug: Bool = false,
        _ message: String
    ) {
        self.surfaces.append(NetworkSurface(kind, pinning, in: self.text.path, line: line))
        if pinning == .unpinned { self.find(rule, at: line, isDebug: isDebug, message) }
    }

    /// Notes a text of a language with braces: an address without TLS, a pin.
    mutating func note(textAt index: Int, of tokens: CodeTokens) {
        let token = tokens.all[index]
        if token.value.contains("://") { self.address(token.value, at: token.line, isDebug: token.isDebug) }
        guard let digest = LiteralText.digest(token.value) else { return }
        let around = tokens.all[max(0, index - 40)..<index]
        // The names of the statement before it are not its own.
        let end = around.lastIndex { $0.kind == .sign && $0.value == ";" }
        let statement = around.suffix(from: end ?? around.startIndex)
        self.pins.append(
            PinLiteral(
                digest: digest.bytes, line: token.line,
                host: around.last { $0.kind == .text && LiteralText.isHost($0.value) }?.value,
                isNamed: digest.hasPrefix
                    || statement.contains { $0.kind == .word && LiteralText.speaksOfPins($0.value) }))
    }

    /// Notes an address without TLS.
    mutating func address(_ literal: String, at line: Int, isDebug: Bool) {
        guard let address = WebAddress(literal), address.isSuspicious(in: literal) else { return }
        self.cleartextHosts.append((address.host, line))
        self.find(.cleartext, at: line, isDebug: isDebug, "\(address.scheme)://\(address.host)")
    }
}
