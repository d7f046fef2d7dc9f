// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Audits an Objective-C file, by its tokens.
struct ObjectiveCSource {
    var facts: SourceFacts
    let tokens: CodeTokens
    let today: String
    let words: Set<String>
    /// The end of the call with a verify block that was examined last: what is within it was examined with it.
    var examined = 0

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - text: The file.
    ///   - today: The day, `yyyy-MM-dd`, for dates in it.
    static func facts(of text: SourceText, today: String) -> SourceFacts {
        var source = ObjectiveCSource(text, today)
        source.run()
        return source.facts
    }

    private init(_ text: SourceText, _ today: String) {
        self.facts = SourceFacts(text)
        self.today = today
        self.tokens = CodeTokens(text.bytes)
        self.words = self.tokens.words(in: self.tokens.all.indices)
    }

    private mutating func run() {
        var index = 0
        while index < self.tokens.all.count {
            let token = self.tokens.all[index]
            switch token.kind {
            case .word: self.word(token, index)
            case .text: self.facts.note(textAt: index, of: self.tokens)
            case .sign:
                // The body of a method or a function begins at the outermost brace.
                if token.value == "{", let body = self.tokens.group(at: index) {
                    self.body(body)
                    for inner in body {
                        let token = self.tokens.all[inner]
                        if token.kind == .word { self.word(token, inner) }
                        if token.kind == .text { self.facts.note(textAt: inner, of: self.tokens) }
                    }
                    index = body.upperBound
                    continue
                }
            }
            index += 1
        }
    }

    private mutating func word(_ token: CodeTokens.Token, _ index: Int) {
        let (line, isDebug) = (token.line, token.isDebug)
        let next = index + 1
        switch token.value {
        case "sharedSession"
        where self.tokens.has(["NSURLSession"], at: index - 1) || self.tokens.has(["NSURLSession", "."], at: index - 2):
            self.facts.surface(
                "URLSession.shared", .unpinned, .sharedSession, at: line, isDebug: isDebug,
                "[NSURLSession sharedSession]")
        case "sessionWithConfiguration": self.session(index, line, isDebug)
        case "WKWebView" where self.isMade(next):
            // Which delegate it is, is not seen.
            let pinning: NetworkSurface.Pinning =
                self.words.contains("navigationDelegate") || self.words.contains("setNavigationDelegate")
                ? .unknown : .unpinned
            self.facts.surface(
                "WKWebView", pinning, .webView, at: line, isDebug: isDebug, "no navigation delegate is set in this file"
            )
        case "SFSafariViewController" where self.isMade(next):
            self.facts.surface(
                "SFSafariViewController", .unpinned, .safari, at: line, isDebug: isDebug, "a page in Safari's view")
        case "ASWebAuthenticationSession" where self.isMade(next):
            self.facts.surface(
                "ASWebAuthenticationSession", .unpinned, .webAuthentication, at: line, isDebug: isDebug,
                "a log-in by a web page")
        case "playerWithURL", "assetWithURL", "URLAssetWithURL", "playerItemWithURL", "initWithURL":
            guard
                token.value != "initWithURL"
                    || self.tokens.all[max(0, index - 6)..<index].contains(where: { $0.value.hasPrefix("AV") })
            else { return }
            self.player(token, index)
        case "NSURLConnection"
        where self.isMade(next)
            || self.tokens.all.indices.contains(next)
                && ["sendSynchronousRequest", "sendAsynchronousRequest", "connectionWithRequest"].contains(
                    self.tokens.all[next].value):
            self.facts.surface(
                "NSURLConnection", .unpinned, .oldConnection, at: line, isDebug: isDebug, "NSURLConnection")
        case "CFStreamCreatePairWithSocketToHost", "CFReadStreamCreateForHTTPRequest", "getStreamsToHostWithName":
            self.facts.surface("CFStream", .unpinned, .stream, at: line, isDebug: isDebug, token.value)
        case "NSURLProtocol"
        where self.tokens.has([":"], at: index - 1) && self.tokens.has(["interface"], at: index - 3):
            self.facts.surface(
                "URLProtocol", .unpinned, .urlProtocol, at: line, isDebug: isDebug, "a subclass of NSURLProtocol")
        case "dataWithContentsOfURL", "stringWithContentsOfURL":
            guard self.message(around: index).contains(where: Self.isRemote) else { return }
            self.facts.surface("Data(contentsOf:)", .unpinned, .contentsOfURL, at: line, isDebug: isDebug, token.value)
        case "AFHTTPSessionManager", "AFURLSessionManager":
            guard self.isMade(next) || self.tokens.has(["manager"], at: next) else { return }
            let isPinned =
                self.words.contains("AFSSLPinningModePublicKey") || self.words.contains("AFSSLPinningModeCertificate")
            self.facts.surface(
                "AFNetworking", isPinned ? .unknown : .unpinned, .networkLibrary, at: line, isDebug: isDebug,
                "\(token.value) without pins in this file")
        default: self.trust(token, index)
        }
    }

    /// Whether an object of the class before a place is made there.
    private func isMade(_ place: Int) -> Bool {
        self.tokens.has(["alloc"], at: place) || self.tokens.has(["new"], at: place)
    }

    /// The tokens of a message from a place on, to the bracket that closes it, past those of its arguments.
    private func message(around index: Int) -> ArraySlice<CodeTokens.Token> {
        let tokens = self.tokens.all[index..<min(self.tokens.all.count, index + 400)]
        var depth = 0
        for place in tokens.indices where tokens[place].kind == .sign {
            if tokens[place].value == "[" { depth += 1 }
            if tokens[place].value == "]" {
                if depth == 0 { return tokens[..<place] }
                depth -= 1
            }
        }
        return tokens
    }

    private static func isRemote(_ token: CodeTokens.Token) -> Bool {
        token.kind == .text && token.value.hasPrefix("http")
    }

    /// What AVFoundation loads by itself, unless it is a file of the app.
    private mutating func player(_ token: CodeTokens.Token, _ index: Int) {
        let message = self.message(around: index)
        let files = ["fileURLWithPath", "initFileURLWithPath", "URLForResource"]
        guard !message.contains(where: { files.contains($0.value) }) else { return }
        let isRemote = message.contains(where: Self.isRemote)
        self.facts.surfaces.append(
            NetworkSurface("AVPlayer", isRemote ? .unpinned : .unknown, in: self.facts.text.path, line: token.line))
        if isRemote {
            self.facts.find(.player, at: token.line, isDebug: token.isDebug, "\(token.value) loads an address")
        } else {
            self.facts.findings.append(
                self.facts.text.finding(
                    .player, .note, line: token.line, "\(token.value) loads what may not be a file of the app"))
        }
    }

    private mutating func session(_ index: Int, _ line: Int, _ isDebug: Bool) {
        var depth = 0
        var delegate: String?
        let message = self.message(around: index)
        for place in message.indices {
            let token = message[place]
            if token.kind == .sign, token.value == "[" { depth += 1 }
            if token.kind == .sign, token.value == "]" { depth -= 1 }
            if depth == 0, token.value == "delegate", self.tokens.has([":"], at: place + 1),
                place + 2 < self.tokens.all.count
            {
                delegate = self.tokens.all[place + 2].value
            }
        }
        if let delegate, delegate != "nil" {
            self.facts.surfaces.append(NetworkSurface("URLSession", .unknown, in: self.facts.text.path, line: line))
        } else {
            self.facts.surface(
                "URLSession", .unpinned, .sessionWithoutDelegate, at: line, isDebug: isDebug,
                "a session without a delegate")
        }
    }
}
