// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Audits a Kotlin or Java file for the obvious, by its tokens.
struct AndroidSource {
    private var facts: SourceFacts
    private let tokens: CodeTokens
    private let words: Set<String>

    /// Reads a file.
    static func facts(of text: SourceText) -> SourceFacts {
        var source = AndroidSource(text)
        for (index, token) in source.tokens.all.enumerated() {
            switch token.kind {
            case .word: source.word(token, index)
            case .text: source.facts.note(textAt: index, of: source.tokens)
            case .sign: break
            }
        }
        return source.facts
    }

    private init(_ text: SourceText) {
        self.facts = SourceFacts(text)
        self.tokens = CodeTokens(text.bytes)
        self.words = self.tokens.words(in: self.tokens.all.indices)
    }

    private mutating func word(_ token: CodeTokens.Token, _ index: Int) {
        let line = token.line
        let before = index > 0 ? self.tokens.all[index - 1].value : ""
        switch token.value {
        case "checkServerTrusted" where ["fun", "void"].contains(before):
            guard let body = self.body(from: index) else { return }
            let idle = ["return", "Log", "d", "i", "e", "v", "w", "Timber", "println", "Unit"]
            let does = self.tokens.all[body].contains { $0.kind == .word && !idle.contains($0.value) }
            if !does { self.facts.find(.androidTrustsAll, at: line, "checkServerTrusted does nothing") }
        case "HostnameVerifier":
            guard let brace = self.tokens.next("{", from: index, maximum: 12),
                let body = self.tokens.group(at: brace, maximum: 400)
            else { return }
            if self.saysTrue(body) {
                self.facts.find(.androidNamesUnchecked, at: line, "a HostnameVerifier that always says true")
            }
        case "hostnameVerifier", "setHostnameVerifier":
            // A lambda in its place.
            guard let lambda = self.tokens.group(at: index + 1, maximum: 400),
                lambda.contains(where: { self.tokens.has(["-", ">", "true"], at: $0) }), self.saysTrue(lambda),
                !self.tokens.words(in: lambda).contains("HostnameVerifier")
            else { return }
            self.facts.find(.androidNamesUnchecked, at: line, "a \(token.value) that always says true")
        case "ALLOW_ALL_HOSTNAME_VERIFIER", "AllowAllHostnameVerifier", "NoopHostnameVerifier":
            guard !self.isImport(index), before != "class" else { return }
            self.facts.find(.androidNamesUnchecked, at: line, token.value)
        case "onReceivedSslError" where ["fun", "void"].contains(before):
            if let body = self.body(from: index).map({ self.tokens.all[$0] }),
                body.contains(where: { $0.value == "proceed" }), !body.contains(where: { $0.value == "cancel" })
            {
                self.facts.find(.androidWebViewErrors, at: line, "onReceivedSslError calls proceed()")
            }
        case "OkHttpClient" where !self.isImport(index):
            let isMade =
                self.tokens.has(["("], at: index + 1) && before != "class"
                || self.tokens.has([".", "Builder", "("], at: index + 1)
            guard isMade else { return }
            self.facts.surface(
                "OkHttpClient", self.pinning(by: "certificatePinner", index), .androidClient, at: line,
                "an OkHttpClient without certificatePinner in this file")
        // Without a dot before it, it is declared here.
        case "openConnection" where before == "." && self.tokens.has(["("], at: index + 1):
            self.facts.surface("HttpsURLConnection", .unpinned, .androidClient, at: line, "URL.openConnection()")
        case "WebView" where self.tokens.has(["("], at: index + 1) && before != "class" && !self.isImport(index):
            self.facts.surface("WebView", .unpinned, .androidWebView, at: line, "a WebView")
        case "CronetEngine" where self.tokens.has([".", "Builder", "("], at: index + 1):
            self.facts.surface(
                "Cronet", self.pinning(by: "addPublicKeyPins", index), .androidClient, at: line,
                "a CronetEngine without addPublicKeyPins")
        default: break
        }
    }

    /// The pins of a client that is made at an index: seen where its chain of calls sets them, unknown where the file does.
    private func pinning(by setter: String, _ index: Int) -> NetworkSurface.Pinning {
        guard self.words.contains(setter) else { return .unpinned }
        var end = index + 1
        while end - index < 400 {
            if let group = self.tokens.group(at: end, maximum: 400) {
                end = group.upperBound
            } else if self.tokens.has(["."], at: end) || self.tokens.has(["."], at: end - 1) {
                end += 1
            } else {
                break
            }
        }
        let chain = index..<min(end, self.tokens.all.count)
        return self.tokens.all[chain].contains { $0.value == setter } ? .pinned : .unknown
    }

    /// Whether code says true and looks at nothing.
    private func saysTrue(_ range: Range<Int>) -> Bool {
        let words = self.tokens.words(in: range)
        return words.contains("true") && words.isDisjoint(with: ["false", "equals", "if", "when", "contains"])
    }

    private func isImport(_ index: Int) -> Bool {
        self.tokens.all[max(0, index - 40)..<index].contains {
            $0.value == "import" && $0.line == self.tokens.all[index].line
        }
    }

    /// The body of the function whose name stands at an index; `nil` where it has none.
    private func body(from index: Int) -> Range<Int>? {
        guard
            let parameters = self.tokens.next("(", from: index, maximum: 3)
                .flatMap({ self.tokens.group(at: $0, maximum: 400) })
        else { return nil }
        for place in self.tokens.all.indices.dropFirst(parameters.upperBound).prefix(24) {
            let value = self.tokens.all[place].value
            if value == "{" { return self.tokens.group(at: place, maximum: 2_000) }
            // In Kotlin an expression may be the body.
            if value == "=" { return self.expression(from: place + 1) }
            // Another one begins: this one is declared without a body.
            if Self.beginnings.contains(value) { return nil }
        }
        return nil
    }

    /// What ends a declaration without a body, or begins the next one.
    private static let beginnings: Set<String> = [
        ";", "}", "class", "fun", "init", "interface", "object", "val", "var",
    ]

    /// The expression that begins at an index: to the end of its line, and past lines that its signs and brackets join.
    private func expression(from start: Int) -> Range<Int>? {
        var end = start
        while end < self.tokens.all.count, end - start < 200 {
            let token = self.tokens.all[end]
            if token.kind == .sign, [";", "}", ")"].contains(token.value) { break }
            if end > start {
                let before = self.tokens.all[end - 1]
                let isJoined =
                    [".", "?", "&", "|"].contains(token.value) || token.value == "else" || before.value == "else"
                    || before.kind == .sign && ![")", "]", "}"].contains(before.value)
                if token.line > before.line, !isJoined { break }
            }
            end = self.tokens.group(at: end, maximum: 2_000)?.upperBound ?? end + 1
        }
        return end > start ? start..<end : nil
    }
}
