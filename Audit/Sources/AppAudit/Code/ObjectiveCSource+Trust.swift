// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Trust that is switched off in Objective-C, and TrustKit's configuration.
extension ObjectiveCSource {
    /// Examines a word for its effect on trust.
    mutating func trust(_ token: CodeTokens.Token, _ index: Int) {
        let (line, isDebug) = (token.line, token.isDebug)
        let isCall = self.tokens.has(["("], at: index + 1)
        switch token.value {
        case "SecTrustSetExceptions" where isCall:
            self.facts.find(.trustExceptions, at: line, isDebug: isDebug, "SecTrustSetExceptions")
        case "SecTrustSetAnchorCertificatesOnly" where isCall:
            if let last = self.lastArgument(index), ["NO", "false", "0"].contains(last) {
                self.facts.find(
                    .trustAnchors, at: line, isDebug: isDebug, "the system's anchors and those of the app are trusted")
            }
        case "setAllowsAnyHTTPSCertificate", "allowsAnyHTTPSCertificateForHost":
            self.facts.find(.invalidCertificates, at: line, isDebug: isDebug, token.value)
        case "allowInvalidCertificates", "setAllowInvalidCertificates", "allowsInvalidSSLCertificate":
            if self.isSet(index, to: ["YES", "true", "1"]) {
                self.facts.find(.invalidCertificates, at: line, isDebug: isDebug, "\(token.value) is YES")
            }
        case "validatesDomainName", "setValidatesDomainName":
            if self.isSet(index, to: ["NO", "false", "0"]) {
                self.facts.find(.hostNameUnchecked, at: line, isDebug: isDebug, "\(token.value) is NO")
            }
        case "kCFStreamSSLValidatesCertificateChain":
            if self.boolean(behind: index) == false {
                self.facts.find(.invalidCertificates, at: line, isDebug: isDebug, "\(token.value) is NO")
            }
        case "continueWithoutCredentialForAuthenticationChallenge":
            // Behind a parenthesis it is declared, or asked for as a selector.
            guard index > 0, !["(", ")"].contains(self.tokens.all[index - 1].value) else { return }
            self.facts.find(.withoutCredential, at: line, isDebug: isDebug, token.value)
        case "SecPolicyCreateSSL" where isCall:
            if let last = self.lastArgument(index), ["NULL", "nil"].contains(last) {
                self.facts.find(.hostNameUnchecked, at: line, isDebug: isDebug, "SecPolicyCreateSSL without a host")
            }
        // The older one gives its result to its last argument.
        case "SecTrustEvaluateWithError" where isCall, "SecTrustEvaluate" where isCall:
            let isLost =
                token.value == "SecTrustEvaluateWithError"
                || self.lastArgument(index).map { ["NULL", "nil"].contains($0) } ?? false
            let isCast = self.tokens.has(["(", "void", ")"], at: index - 3)
            let before = index > 0 ? self.tokens.all[index - 1].value : ";"
            if isLost, isCast || [";", "{", "}"].contains(before) {
                self.facts.find(
                    .ignoredEvaluation, at: line, isDebug: isDebug, "nothing looks at the result of \(token.value)")
            }
        case "sec_protocol_options_set_verify_block" where isCall: self.verifyBlock(index, line, isDebug)
        case "nw_parameters_create_secure_tcp", "nw_parameters_create_secure_udp", "nw_parameters_create_quic":
            if isCall { self.connection(index, line, isDebug) }
        case _ where token.value.hasPrefix("kTSK"): self.trustKit(token, index)
        default:
            guard SwiftSource.isMisread(token.value, "=="), self.tokens.has(["=", "="], at: index - 2) else {
                if SwiftSource.isMisread(token.value, "!="), self.tokens.has(["!", "="], at: index - 2),
                    !self.isNarrowed(index)
                {
                    self.facts.find(.trustResult, at: line, isDebug: isDebug, "compared by != with \(token.value)")
                }
                return
            }
            self.facts.find(.trustResult, at: line, isDebug: isDebug, "compared by == with \(token.value)")
        }
    }

    /// The last word of a call's arguments.
    private func lastArgument(_ index: Int) -> String? {
        self.tokens.group(at: index + 1).flatMap { self.tokens.all[$0].dropLast().last?.value }
    }

    /// Whether a value stands behind a name: `name = VALUE`, `setName:VALUE`, `name : @VALUE`, `VALUE forKey:name`.
    private func isSet(_ index: Int, to values: [String]) -> Bool {
        for place in (index + 1)..<max(index + 1, min(self.tokens.all.count, index + 5)) {
            let token = self.tokens.all[place]
            if values.contains(token.value) { return true }
            guard [":", "=", "@", "(", ")", ",", "]"].contains(token.value) else { return false }
        }
        return false
    }

    // MARK: Conjunctions

    /// Whether a condition that `&&` joins with a comparison, whose last word stands at a place, lets the same value pass
    /// with good results alone.
    private func isNarrowed(_ index: Int) -> Bool {
        var start = index - 3
        while self.tokens.has(["."], at: start - 1) { start -= 2 }
        // What a pointer leads to is another value than one of the same name.
        guard start >= 0, start == 0 || ![">", "*"].contains(self.tokens.all[start - 1].value) else { return false }
        let value = self.tokens.all[start..<index - 2].map(\.value)
        var isNarrowed = false
        var place = index
        // Each level is a pair of parentheses around the one before.
        for _ in 0..<4 {
            guard let expression = self.expression(around: place) else { return isNarrowed }
            let part = self.parts(of: expression, by: Self.separators).first { $0.contains(place) } ?? expression
            let way = self.parts(of: part, by: Self.or).first { $0.contains(place) } ?? part
            isNarrowed =
                isNarrowed
                || self.parts(of: way, by: Self.and).contains {
                    !$0.contains(place) && self.takesGoodResults($0, of: value)
                }
            let opening = expression.lowerBound - 1
            guard self.tokens.has(["("], at: opening) else { return isNarrowed }
            // A conjunction that is negated, or compared with NO, lets pass what it would hold back.
            if self.tokens.has(["!"], at: opening - 1) || self.isCompared(expression) { return false }
            place = opening
        }
        return isNarrowed
    }

    private static var and: [[String]] { [["&", "&"]] }
    private static var or: [[String]] { [["|", "|"]] }
    /// What ends a condition: the signs of a ternary, of arguments and of labels.
    private static var separators: [[String]] { [[","], ["?"], [":"]] }

    /// Whether the parentheses around an expression are a side of a comparison.
    private func isCompared(_ expression: Range<Int>) -> Bool {
        [expression.lowerBound - 3, expression.upperBound + 1].contains {
            self.tokens.has(["=", "="], at: $0) || self.tokens.has(["!", "="], at: $0)
        }
    }

    /// The tokens around a place, within their parentheses or their statement; `nil` where they are many.
    private func expression(around place: Int) -> Range<Int>? {
        var depth = 0
        var start = place
        while start > 0, place - start < 60 {
            let before = self.tokens.all[start - 1].value
            if before == "(", depth == 0 {
                return self.tokens.group(at: start - 1, maximum: 120).map { start..<$0.upperBound - 1 }
            }
            if depth == 0, [";", "{", "}"].contains(before) {
                return self.tokens.next(";", from: place, maximum: 60).map { start..<$0 }
            }
            if before == ")" { depth += 1 }
            if before == "(" { depth -= 1 }
            start -= 1
        }
        return nil
    }

    /// The parts of an expression between signs, outside of parentheses.
    private func parts(of expression: Range<Int>, by signs: [[String]]) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var start = expression.lowerBound
        var place = start
        while place < expression.upperBound {
            if let group = self.tokens.group(at: place) {
                place = group.upperBound
            } else if let sign = signs.first(where: { self.tokens.has($0, at: place) }) {
                parts.append(start..<place)
                place += sign.count
                start = place
            } else {
                place += 1
            }
        }
        return parts + [start..<max(start, expression.upperBound)]
    }

    /// Whether each way in which an expression can hold compares a value with a good result.
    private func takesGoodResults(_ expression: Range<Int>, of value: [String]) -> Bool {
        if let group = self.tokens.group(at: expression.lowerBound), group == expression {
            return self.takesGoodResults(group.lowerBound + 1..<group.upperBound - 1, of: value)
        }
        // A ternary holds by its other way, too.
        guard self.parts(of: expression, by: Self.separators).count == 1 else { return false }
        return self.parts(of: expression, by: Self.or).allSatisfy { way in
            self.parts(of: way, by: Self.and).contains { part in
                guard part == expression else { return self.takesGoodResults(part, of: value) }
                let words = self.tokens.all[part].map(\.value)
                return SwiftSource.goodResults.contains {
                    words == value + ["=", "=", $0] || words == [$0, "=", "="] + value
                }
            }
        }
    }

    // MARK: Network.framework

    /// A block that completes with true without a look at the trust.
    private mutating func verifyBlock(_ index: Int, _ line: Int, _ isDebug: Bool) {
        guard index >= self.examined, let group = self.tokens.group(at: index + 1) else { return }
        self.examined = group.upperBound
        let words = self.tokens.words(in: group).subtracting([LiteralText.verifyCompletion])
        let completes = group.contains { place in
            ["true", "YES", "1"].contains { self.tokens.has(["(", $0, ")"], at: place) }
        }
        guard completes, words.isDisjoint(with: ["false", "NO"]), !Self.looksAtTrust(words) else { return }
        self.facts.find(
            .acceptingVerifyBlock, at: line, isDebug: isDebug, "every certificate is completed with true")
    }

    /// Parameters of connections: with TLS unless its block is NW_PARAMETERS_DISABLE_PROTOCOL.
    private mutating func connection(_ index: Int, _ line: Int, _ isDebug: Bool) {
        // Parameters of a server are those of its own certificate.
        guard let group = self.tokens.group(at: index + 1, maximum: 2_000),
            !self.words.contains("nw_listener_create") || self.words.contains("nw_connection_create")
        else { return }
        let first = self.tokens.all[group].dropFirst().first?.value
        guard first != "NW_PARAMETERS_DISABLE_PROTOCOL" else { return }
        let block = "sec_protocol_options_set_verify_block"
        // A block that is held by a variable may set one.
        let pinning: NetworkSurface.Pinning =
            self.tokens.all[group].contains { $0.value == block }
            ? .ownCode
            : first == "NW_PARAMETERS_DEFAULT_CONFIGURATION" || !self.words.contains(block) ? .unpinned : .unknown
        self.facts.surface(
            "NWConnection", pinning, .connection, at: line, isDebug: isDebug, "TLS without a verify block")
    }

    /// The boolean behind a key, in each form that a dictionary takes; `nil` where only the running app knows.
    private func boolean(behind index: Int) -> Bool? {
        let value = self.tokens.all.dropFirst(index + 1).prefix(12).drop {
            $0.kind == .sign && [":", "=", ",", ")", "]"].contains($0.value)
        }
        .prefix { $0.kind == .text || ![",", ";", "}", "!"].contains($0.value) }
        return LiteralText.boolean(value.filter { $0.kind != .sign }.map(\.value))
    }

    // MARK: TrustKit

    /// Examines an entry of TrustKit's configuration.
    private mutating func trustKit(_ token: CodeTokens.Token, _ index: Int) {
        let (line, isDebug) = (token.line, token.isDebug)
        switch token.value {
        case "kTSKEnforcePinning" where self.boolean(behind: index) == false:
            self.facts.find(.trustKitNotEnforced, at: line, isDebug: isDebug, "kTSKEnforcePinning is NO")
        case "kTSKSwizzleNetworkDelegates" where self.boolean(behind: index) == true:
            self.facts.find(.trustKitSwizzling, at: line, isDebug: isDebug, "kTSKSwizzleNetworkDelegates is YES")
        case "kTSKExpirationDate":
            guard self.tokens.has([":", "@"], at: index + 1), index + 3 < self.tokens.all.count else { return }
            let day = self.tokens.all[index + 3]
            if day.kind == .text, day.value.utf8.count == 10, day.value <= self.today {
                self.facts.find(
                    .trustKitExpired, at: line, isDebug: isDebug,
                    "the pins of \(self.host(before: index) ?? "a host") ended on \(day.value)")
            }
        case "kTSKPublicKeyHashes":
            guard self.tokens.has([":", "@", "["], at: index + 1), let group = self.tokens.group(at: index + 3) else {
                return
            }
            let hashes = self.tokens.all[group]
            // What a variable holds is not seen.
            guard hashes.allSatisfy({ $0.kind != .word }) else { return }
            let count = hashes.count { $0.kind == .text }
            if count < 2 {
                self.facts.find(
                    .trustKitOnePin, at: line, isDebug: isDebug,
                    "\(self.host(before: index) ?? "a host") has \(count) pin\(count == 1 ? "" : "s")")
            }
        case "kTSKPinnedDomains":
            self.facts.surfaces.append(NetworkSurface("TrustKit", .pinned, in: self.facts.text.path, line: line))
        default: break
        }
    }

    /// The host that stands last before a place.
    private func host(before index: Int) -> String? {
        self.tokens.all[max(0, index - 40)..<index].last { $0.kind == .text && LiteralText.isHost($0.value) }?.value
    }

    // MARK: Bodies

    private static let credentials: Set<String> = [
        "credentialForTrust", "initWithTrust", "NSURLCredential", "NSURLSessionAuthChallengeUseCredential",
    ]

    private static func looksAtTrust(_ words: Set<String>) -> Bool {
        words.contains { LiteralText.speaksOfEvaluation($0) || LiteralText.looksAtKeys($0) }
    }

    /// The body of a method, or of a class in braces.
    mutating func body(_ range: Range<Int>) {
        let words = self.tokens.words(in: range)
        self.anchors(range, words)
        // Of most bodies the words are not looked at.
        guard !words.isDisjoint(with: Self.credentials), !Self.looksAtTrust(words) else { return }
        for place in range where ["credentialForTrust", "initWithTrust"].contains(self.tokens.all[place].value) {
            let token = self.tokens.all[place]
            self.facts.find(
                .unevaluatedTrust, at: token.line, isDebug: token.isDebug,
                "a credential of a trust that nothing evaluated")
        }
        self.challenge(range, words)
    }

    private mutating func anchors(_ range: Range<Int>, _ words: Set<String>) {
        guard words.contains("SecTrustSetAnchorCertificates"), !words.contains("SecTrustSetAnchorCertificatesOnly")
        else { return }
        for place in range where self.tokens.has(["SecTrustSetAnchorCertificates", "("], at: place) {
            let token = self.tokens.all[place]
            self.facts.find(
                .trustAnchors, at: token.line, isDebug: token.isDebug,
                "SecTrustSetAnchorCertificates, and nothing says which anchors vouch")
        }
    }

    /// The body of a method that answers challenges with credentials, and never asks for server trust.
    private mutating func challenge(_ range: Range<Int>, _ words: Set<String>) {
        // The declaration stands before it, behind the end of what is before that.
        let before = self.tokens.all[max(0, range.lowerBound - 80)..<range.lowerBound]
        let declaration = before.suffix(from: before.lastIndex { [";", "}"].contains($0.value) } ?? before.startIndex)
        guard let name = declaration.first(where: { $0.value == "NSURLAuthenticationChallenge" }),
            words.isDisjoint(with: ["serverTrust", "NSURLAuthenticationMethodServerTrust"])
        else { return }
        self.facts.find(
            .ignoredChallenge, at: name.line, isDebug: name.isDebug,
            "a method answers challenges and never asks for server trust")
    }
}
