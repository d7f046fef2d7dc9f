// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Surfaces whose pins stand elsewhere in the file: in a variable, a delegate, a block. What is not seen is not pinned.
extension SwiftSource {
    /// Whether values are worth keeping: of most files none is asked for.
    var makesConnections: Bool {
        self.imports.contains {
            ["Alamofire", "AsyncHTTPClient", "Network", "NIOSSL", "Starscream"].contains($0) || $0.hasPrefix("GRPC")
                || $0.hasPrefix("Pinning")
        }
    }

    /// A text with the values that its names are bound to, and those of theirs.
    private func resolved(_ text: String, _ scope: Int) -> (texts: [String], names: Set<String>) {
        var texts = [text]
        var names: Set<String> = []
        var next = 0
        while next < texts.count, texts.count < 32 {
            for name in Self.variables(in: texts[next]) where names.insert(name).inserted {
                texts += self.values(of: name, scope)
            }
            next += 1
        }
        return (texts, names)
    }

    /// The values of a name in the same function, in a type or in the file.
    private func values(of name: String, _ scope: Int) -> [String] {
        let function = self.scopes[scope].function
        let seen = (self.bindings[name] ?? []).filter { $0.function == nil || $0.function == function }
        return seen.prefix(8).map(\.value)
    }

    /// The words of a text that may be variables: no labels, and of members those of `self`.
    private static func variables(in text: String) -> [String] {
        let words = text.split { !($0.isLetter || $0.isNumber || $0 == "_") }
        return words.indices.compactMap { index in
            let word = words[index]
            if word.endIndex < text.endIndex, text[word.endIndex] == ":" { return nil }
            let isMember = word.startIndex > text.startIndex && text[text.index(before: word.startIndex)] == "."
            return isMember && (index == 0 || words[index - 1] != "self") ? nil : String(word)
        }
    }

    /// The pinning of the verify block that was set last for one of some names, as they are known in a scope; `nil` without
    /// one. Which of several functions is called last is not seen: a block in any of them may be the one that counts.
    private func verifyBlock(_ names: Set<String>, _ scope: Int) -> NetworkSurface.Pinning? {
        let set = self.verifiedOptions.filter { options in
            names.contains(options.name)
                && (options.function == self.scopes[scope].function
                    || self.bindings[options.name]?.contains { $0.function == nil } ?? false)
        }
        guard let last = set.last else { return nil }
        let isPinned = last.isPinned && set.allSatisfy { $0.isPinned || $0.function == last.function }
        return isPinned ? .pinned : .ownCode
    }

    private static func isPinned(_ text: String) -> Bool { text.contains(".pinned(") || text.contains("PinnedTLS(") }

    /// Decides on an NWConnection.
    mutating func finishConnection(_ text: String, _ line: Int, _ scope: Int) {
        let hasTLS =
            text.contains(".tls") || text.contains("tls:") || text.contains(".quic")
            || !text.contains(".tcp") && !text.contains(".udp")
                && (self.names.contains("NWProtocolTLS") || self.names.contains("tls"))
        guard hasTLS else { return }
        let (texts, names) = self.resolved(text, scope)
        let pinning: NetworkSurface.Pinning
        if let block = self.verifyBlock(names, scope) {
            pinning = block
        } else if texts.contains(where: Self.isPinned) {
            // No library has options of that name: a function of the app makes them.
            pinning = .ownCode
        } else {
            // The parameters of the system itself have no block, even when others in the file have one.
            let isPlain = text.hasSuffix(".tls") || text.hasSuffix(".quic")
            let isElsewhere = !self.verifiedOptions.isEmpty || self.pinsSomething
            pinning = isElsewhere && !isPlain ? .unknown : .unpinned
        }
        self.facts.surface(
            "NWConnection", pinning, .connection, at: line, isDebug: self.scopes[scope].isDebug,
            "TLS without a verify block")
    }

    /// Decides on a client of gRPC, of AsyncHTTPClient or of NIOSSL.
    mutating func finishClient(_ client: Client, _ text: String, _ line: Int, _ scope: Int) {
        let isPinned = self.resolved(text, scope).texts.contains(where: Self.isPinned)
        let isElsewhere = self.names.contains("PinnedTLS") || self.pinsSomething
        let isPlain = client == .grpc && (text.contains("plaintext") || text.contains("insecure"))
        let pinning: NetworkSurface.Pinning
        if isPinned {
            pinning = .pinned
        } else if client == .nioSSL, text.contains("erificationCallback:") {
            pinning = .ownCode
        } else {
            pinning = isElsewhere && !isPlain ? .unknown : .unpinned
        }
        let isDebug = self.scopes[scope].isDebug
        switch client {
        case .grpc:
            self.facts.surface(
                "gRPC", pinning, .grpc, at: line, isDebug: isDebug,
                isPlain ? "a gRPC client without TLS" : "a gRPC client whose TLS is not pinned")
        case .asyncHTTPClient:
            self.facts.surface(
                "AsyncHTTPClient", pinning, .asyncHTTPClient, at: line, isDebug: isDebug, "an HTTPClient")
        case .nioSSL:
            self.facts.surface(
                "NIOSSL", pinning, .nioSSL, at: line, isDebug: isDebug,
                "a NIOSSLClientHandler without a verification callback")
        }
    }

    /// Decides on a session of Alamofire: it is pinned where an evaluator that pins is seen. The default one, and that of
    /// revocation, ask the system alone.
    mutating func finishTrustManager(_ text: String, _ line: Int, _ scope: Int) {
        let evaluators = [
            "PublicKeysTrustEvaluator(", "PinnedCertificatesTrustEvaluator(", ".publicKeys(", ".pinnedCertificates(",
            ".pinPublicKeys(", ".pinCertificates(",
        ]
        let isPinned = self.resolved(text, scope).texts.contains { text in evaluators.contains { text.has($0) } }
        self.facts.surfaces.append(
            NetworkSurface("Alamofire", isPinned ? .pinned : .unknown, in: self.facts.text.path, line: line))
    }

    /// Decides on a WebSocket of Starscream: the pinner of the library asks the system alone.
    mutating func finishPinner(_ text: String, _ line: Int, _ scope: Int) {
        let made = text.first?.isUppercase == true ? [text] : self.resolved(text, scope).texts
        let pinning: NetworkSurface.Pinning
        if made.contains(where: { $0.has("FoundationSecurity") }) {
            pinning = .unpinned
        } else {
            pinning = made.contains { $0.first?.isUppercase == true } ? .ownCode : .unknown
        }
        self.facts.surface(
            "Starscream", pinning, .starscream, at: line, isDebug: self.scopes[scope].isDebug,
            "a WebSocket whose certPinner is FoundationSecurity, which pins nothing")
    }

    /// Whether all web views have the one navigation delegate: which is whose is not looked for, and where some views may
    /// have none, none is said to be pinned.
    var haveWebViewsOneDelegate: Bool {
        let views = self.pending.count { if case .webView = $0.kind { true } else { false } }
        return self.navigationDelegates.count >= views && Set(self.navigationDelegates).count == 1
    }

    /// Decides on a web view.
    mutating func finishWebView(_ line: Int, _ scope: Int, isSure: Bool) {
        guard let text = self.navigationDelegates.first else {
            return self.facts.surface(
                "WKWebView", .unpinned, .webView, at: line, isDebug: self.scopes[scope].isDebug,
                "no navigation delegate is set in this file")
        }
        let head = text.prefix { $0 != "(" && $0 != "." && $0 != "<" }
        let type: String?
        switch text {
        case "self": type = self.scopes[scope].type
        case "context.coordinator":
            let isPinned = self.scopes[scope].type.map { self.pinnedCoordinators.contains($0) } ?? false
            type = isPinned ? "PinnedNavigationDelegate" : nil
        default: type = head.first?.isUppercase == true ? String(head) : self.boundDelegate(String(head), scope)
        }
        self.facts.sessions.append(
            SourceFacts.Session(
                kind: "WKWebView", rule: .webView, line: line, delegate: type, isSure: isSure))
    }

    /// The type of a delegate that is held by a variable, where that is the one that pins.
    private func boundDelegate(_ name: String, _ scope: Int) -> String? {
        let type = "PinnedNavigationDelegate"
        return self.resolved(name, scope).texts.contains { $0.hasPrefix("\(type)(") } ? type : nil
    }
}
