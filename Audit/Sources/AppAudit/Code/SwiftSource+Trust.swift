// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import SwiftSyntax

/// Trust that is switched off, and what functions and files decide as a whole.
extension SwiftSource {
    /// Examines a call for its effect on trust.
    mutating func lookAtTrustCall(_ call: FunctionCallExprSyntax, _ name: String, _ last: String, _ scope: Int) {
        let line = self.line(of: call)
        let isDebug = self.scopes[scope].isDebug
        let labels = call.arguments.map { $0.label?.text ?? "" }
        let values = call.arguments.map { self.short($0.expression) }
        switch last {
        case "URLCredential" where labels == ["trust"],
            "init" where labels == ["trust"] && self.makesCredential(call, name, scope):
            if let function = self.scopes[scope].function {
                // One whose type stands beside it was examined with that.
                guard self.functions[function].credentials.last?.line != line else { return }
                self.functions[function].credentials.append((line, isDebug))
            } else {
                self.facts.find(
                    .unevaluatedTrust, at: line, isDebug: isDebug, "a credential of a trust, outside of a function")
            }
        case "SecTrustSetExceptions":
            if values.last != "nil" {
                self.facts.find(.trustExceptions, at: line, isDebug: isDebug, "SecTrustSetExceptions")
            }
        case "SecTrustSetAnchorCertificates":
            if let function = self.scopes[scope].function { self.functions[function].anchors.append((line, isDebug)) }
        case "SecTrustSetAnchorCertificatesOnly" where values.last == "false":
            self.facts.find(
                .trustAnchors, at: line, isDebug: isDebug, "the system's anchors and those of the app are trusted")
        // The older one gives its result to its last argument.
        case "SecTrustEvaluateWithError",
            "SecTrustEvaluate" where values.last == "nil":
            if self.isThrownAway(call) {
                self.facts.find(
                    .ignoredEvaluation, at: line, isDebug: isDebug, "nothing looks at the result of \(last)")
            }
        case "SecPolicyCreateSSL" where values.count == 2 && values[1] == "nil":
            self.facts.find(.hostNameUnchecked, at: line, isDebug: isDebug, "SecPolicyCreateSSL without a host")
        case "sec_protocol_options_set_verify_block":
            if let options = call.arguments.first?.expression {
                let name = self.name(of: options).split(separator: ".").first { $0 != "self" }
                self.verifiedOptions.append((name.map(String.init) ?? "", self.scopes[scope].function, false))
            }
            let closure =
                call.trailingClosure ?? call.arguments.dropFirst().first?.expression.as(ClosureExprSyntax.self)
            if let closure, self.alwaysCompletesTrue(closure) {
                self.facts.find(
                    .acceptingVerifyBlock, at: line, isDebug: isDebug, "every certificate is completed with true")
            }
        case "pin" where labels.starts(with: ["by", "host"]):
            let options = name.split(separator: ".").first { $0 != "self" }
            self.verifiedOptions.append((options.map(String.init) ?? "", self.scopes[scope].function, true))
        case "setAllowsAnyHTTPSCertificate":
            self.facts.find(.invalidCertificates, at: line, isDebug: isDebug, last)
        case "bundled" where labels.first == "" && name.hasSuffix("bundled"):
            if let text = call.arguments.first.flatMap({ self.literal($0.expression) }),
                text.contains("pin") || text.contains("list")
            {
                self.facts.bundledLists.append((text, line))
            }
        default: break
        }
    }

    /// Whether an initialiser is that of URLCredential: by its name, or without one where a challenge is answered.
    private func makesCredential(_ call: FunctionCallExprSyntax, _ name: String, _ scope: Int) -> Bool {
        if name.hasSuffix("URLCredential.init") { return true }
        guard let member = call.calledExpression.as(MemberAccessExprSyntax.self), member.base == nil else {
            return false
        }
        return self.scopes[scope].function.map { self.functions[$0].isHandler } ?? false
    }

    /// A statement alone, or one that is given to `_`.
    private func isThrownAway(_ call: FunctionCallExprSyntax) -> Bool {
        if let parent = call.parent, parent.kind == .codeBlockItem {
            // The only statement of a closure or a function is what it returns.
            let siblings = parent.parent?.as(CodeBlockItemListSyntax.self)
            return (siblings?.count ?? 0) > 1
        }
        guard let list = call.parent?.as(ExprListSyntax.self), list.count == 3 else { return false }
        return list.first?.is(DiscardAssignmentExprSyntax.self) ?? false
    }

    private func alwaysCompletesTrue(_ closure: ClosureExprSyntax) -> Bool {
        var isTrue = false
        var before: TokenKind?
        for token in closure.tokens(viewMode: .sourceAccurate) {
            if case .identifier(let name) = token.tokenKind, name != LiteralText.verifyCompletion,
                LiteralText.speaksOfEvaluation(name) || LiteralText.looksAtKeys(name)
            {
                return false
            }
            switch (before, token.tokenKind) {
            case (.leftParen, .keyword(.true)): isTrue = true
            case (_, .keyword(.false)): return false
            default: break
            }
            before = token.tokenKind
        }
        return isTrue
    }

    /// Names after a dot that take everything.
    mutating func lookAtTrustMember(_ name: String, _ line: Int, _ isDebug: Bool) {
        switch name {
        case "continueWithoutCredential", "continueWithoutCredentialForAuthenticationChallenge":
            self.facts.find(.withoutCredential, at: line, isDebug: isDebug, name)
        // What the evaluator was before Alamofire 5.
        case "disableEvaluation" where self.imports.contains("Alamofire"):
            self.facts.find(.disabledEvaluator, at: line, isDebug: isDebug, name)
        default: break
        }
    }

    /// Names that need no dot.
    mutating func lookAtReference(_ node: Syntax, _ scope: Int) {
        guard let reference = node.as(DeclReferenceExprSyntax.self) else { return }
        let name = reference.baseName.text
        let isDebug = self.scopes[scope].isDebug
        switch name {
        case "DisabledTrustEvaluator", "DisabledEvaluator":
            // Where the library declares it, it is no use of it.
            guard !self.facts.types.contains(name) else { return }
            self.facts.find(.disabledEvaluator, at: self.line(of: node), isDebug: isDebug, name)
        case "kCFStreamSSLValidatesCertificateChain":
            guard let element = Self.element(around: node), self.boolean(element.value) == false else { return }
            self.facts.find(.invalidCertificates, at: self.line(of: node), isDebug: isDebug, "\(name) is false")
        default: break
        }
    }

    /// The entry of a dictionary that a name is the key of, with a cast perhaps.
    private static func element(around node: Syntax) -> DictionaryElementSyntax? {
        var open = node.parent
        for _ in 0..<5 {
            if let element = open?.as(DictionaryElementSyntax.self) { return element }
            open = open?.parent
        }
        return nil
    }

    /// Assignments and comparisons.
    mutating func lookAtSequence(_ node: Syntax, _ scope: Int) {
        guard let sequence = node.as(SequenceExprSyntax.self), sequence.elements.count <= 64 else { return }
        let elements = Array(sequence.elements)
        let isDebug = self.scopes[scope].isDebug
        for index in elements.indices.dropFirst().dropLast() {
            let left = elements[index - 1]
            let right = elements[index + 1]
            if elements[index].is(AssignmentExprSyntax.self) {
                self.lookAtAssignment(self.name(of: left), right, scope)
            } else if let sign = elements[index].as(BinaryOperatorExprSyntax.self)?.operator.text,
                sign == "==" || sign == "!="
            {
                let names = [self.name(of: left), self.name(of: right)].map {
                    $0.split(separator: ".").last.map(String.init) ?? ""
                }
                let isResult = self.looksAtTrustResults(scope)
                if let side = names.firstIndex(where: { Self.isMisread($0, sign, isResult: isResult) }),
                    sign == "==" || !self.isNarrowed(at: index, of: sequence, side == 0 ? right : left)
                {
                    self.facts.find(
                        .trustResult, at: self.line(of: elements[index]), isDebug: isDebug,
                        "compared by \(sign) with \(names[side])")
                }
            }
        }
    }

    /// Whether the function has spoken of a SecTrustResultType: `.deny` and `.invalid` alone are of many types.
    private func looksAtTrustResults(_ scope: Int) -> Bool {
        guard let function = self.scopes[scope].function else { return false }
        return !self.functions[function].names.isDisjoint(
            with: ["SecTrustResultType", "SecTrustEvaluate", "SecTrustGetTrustResult"])
    }

    /// A result that a comparison takes for a good one.
    ///
    /// - Parameter isResult: Whether names that other types have, too, are those of a result.
    static func isMisread(_ name: String, _ sign: String, isResult: Bool = false) -> Bool {
        if isResult, sign == "!=", ["deny", "invalid", "otherError"].contains(name) { return true }
        let recoverable: Set<String> = ["recoverableTrustFailure", "kSecTrustResultRecoverableTrustFailure"]
        let refusals: Set<String> = [
            "fatalTrustFailure", "kSecTrustResultDeny", "kSecTrustResultFatalTrustFailure", "kSecTrustResultInvalid",
            "kSecTrustResultOtherError",
        ]
        return sign == "==" ? recoverable.contains(name) : refusals.contains(name)
    }

    mutating func lookAtAssignment(_ name: String, _ value: ExprSyntax, _ scope: Int) {
        let member = name.split(separator: ".").last.map(String.init) ?? ""
        // A server that asks its clients for no certificate is as servers are. gRPC's clients have a member of that name.
        guard !name.lowercased().hasPrefix("server") || member == "serverCertificateVerification" else { return }
        let line = self.line(of: value)
        let isDebug = self.scopes[scope].isDebug
        let text = self.short(value)
        switch (member, text) {
        case ("allowInvalidCertificates", "true"), ("disableSSLCertValidation", "true"),
            ("allowsSelfSignedCertificates", "true"),
            ("allowSelfSigned", "true"), ("allowSelfSignedSSL", "true"), ("validatesCertificateChain", "false"),
            ("validateCertificateChain", "false"):
            self.facts.find(.invalidCertificates, at: line, isDebug: isDebug, "\(name) = \(text)")
        case ("certificateVerification", ".none"), ("serverCertificateVerification", ".noVerification"):
            self.facts.find(.invalidCertificates, at: line, isDebug: isDebug, "\(name) = \(text)")
        case ("validatesDomainName", "false"), ("certificateVerification", ".noHostnameVerification"),
            ("serverCertificateVerification", ".noHostnameVerification"), ("validateHost", "false"):
            self.facts.find(.hostNameUnchecked, at: line, isDebug: isDebug, "\(name) = \(text)")
        case ("navigationDelegate", _) where text != "nil":
            self.navigationDelegates.append(text)
        default: break
        }
    }

    /// A case that takes a recoverable failure together with good results.
    mutating func lookAtCase(_ node: Syntax, _ scope: Int) {
        guard let label = node.as(SwitchCaseLabelSyntax.self) else { return }
        let text = self.short(label.caseItems)
        guard text.contains("ecoverableTrustFailure"),
            text.contains("proceed") || text.contains("unspecified") || text.contains("Proceed")
        else { return }
        self.facts.find(
            .trustResult, at: self.line(of: node), isDebug: self.scopes[scope].isDebug, "one case takes \(text)")
    }

    /// The boolean that an expression is, in each form that a dictionary takes; `nil` where only the running app knows.
    private func boolean(_ value: ExprSyntax) -> Bool? {
        let text = self.short(value)
        guard !text.hasPrefix("!") else { return nil }
        return LiteralText.boolean(text.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init))
    }

    // MARK: TrustKit

    /// Examines an entry of TrustKit's configuration.
    mutating func lookAtTrustKit(key: String, value: ExprSyntax, _ scope: Int) {
        guard key.contains("TSK") else { return }
        let line = self.line(of: value)
        let isDebug = self.scopes[scope].isDebug
        // Behind it may be a cast.
        switch key.drop(while: { $0 != "T" }).prefix(while: \.isLetter) {
        case "TSKEnforcePinning" where self.boolean(value) == false:
            self.facts.find(.trustKitNotEnforced, at: line, isDebug: isDebug, "kTSKEnforcePinning is false")
        case "TSKSwizzleNetworkDelegates" where self.boolean(value) == true:
            self.facts.find(.trustKitSwizzling, at: line, isDebug: isDebug, "kTSKSwizzleNetworkDelegates is true")
        case "TSKExpirationDate":
            if let day = self.literal(value), day.count == 10, day <= self.now {
                self.facts.find(
                    .trustKitExpired, at: line, isDebug: isDebug,
                    "the pins of \(self.scopes[scope].host ?? "a host") ended on \(day)")
            }
        case "TSKPublicKeyHashes":
            if let array = value.as(ArrayExprSyntax.self), array.elements.count < 2 {
                self.facts.find(
                    .trustKitOnePin, at: line, isDebug: isDebug,
                    "\(self.scopes[scope].host ?? "a host") has \(array.elements.count) pin")
            }
        case "TSKPinnedDomains":
            self.facts.surfaces.append(NetworkSurface("TrustKit", .pinned, in: self.facts.text.path, line: line))
        default: break
        }
    }

    // MARK: What the whole decides

    /// Decides what waited for the end of the file.
    mutating func finish() {
        // A nested function is part of the one around it.
        for index in self.functions.indices.reversed() {
            if let outer = self.functions[index].outer {
                self.functions[outer].names.formUnion(self.functions[index].names)
            }
        }
        for function in self.functions { self.finish(function) }
        let isSure = self.haveWebViewsOneDelegate
        for (kind, line, scope) in self.pending {
            switch kind {
            case .webView: self.finishWebView(line, scope, isSure: isSure)
            case .connection(let text): self.finishConnection(text, line, scope)
            case .client(let client, let text): self.finishClient(client, text, line, scope)
            case .trustManager(let text): self.finishTrustManager(text, line, scope)
            case .pinner(let text): self.finishPinner(text, line, scope)
            }
        }
    }

    private mutating func finish(_ function: Function) {
        // Of most functions nothing waits: their names are not looked at.
        guard function.isHandler || !function.credentials.isEmpty || !function.anchors.isEmpty else { return }
        let evaluates = function.names.contains { LiteralText.speaksOfEvaluation($0) }
        let looksAtKeys = function.names.contains { LiteralText.looksAtKeys($0) }
        if !evaluates && !looksAtKeys {
            for (line, isDebug) in function.credentials {
                self.facts.find(
                    .unevaluatedTrust, at: line, isDebug: isDebug,
                    "\(function.name) makes a credential of a trust that nothing evaluated")
            }
        }
        if !function.names.contains("SecTrustSetAnchorCertificatesOnly") {
            for (line, isDebug) in function.anchors {
                self.facts.find(
                    .trustAnchors, at: line, isDebug: isDebug,
                    "SecTrustSetAnchorCertificates, and nothing says which anchors vouch")
            }
        }
        guard function.isHandler, let type = function.type else { return }
        // The system's own evaluation is what a session without a delegate has: it looks at no pins.
        let isOwn = looksAtKeys || function.names.contains { LiteralText.speaksOfOwnEvaluation($0) }
        let seesTrust =
            evaluates
            || function.names.contains { $0 == "serverTrust" || $0 == "NSURLAuthenticationMethodServerTrust" }
        let handsOn = !function.names.isDisjoint(
            with: ["forward", "handle", "delegate", "super", "resolve", "respond", "challengeHandler"])
        if isOwn {
            self.facts.handlers[type] = .ownCode
        } else if !seesTrust && !handsOn {
            // Handlers of a task and of a session may stand side by side: the better one counts.
            self.facts.handlers[type] = self.facts.handlers[type] ?? .unpinned
            if function.names.contains("useCredential") || function.names.contains("URLCredential") {
                self.facts.find(
                    .ignoredChallenge, at: function.line, "\(type) answers challenges and never asks for server trust")
            }
        } else if handsOn {
            self.facts.handlers[type] = self.facts.handlers[type] ?? .unknown
        } else {
            self.facts.handlers[type] = self.facts.handlers[type] ?? .unpinned
        }
    }
}
