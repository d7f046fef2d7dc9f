// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import SwiftSyntax

/// Calls and members that make connections.
extension SwiftSource {
    /// Examines a call, and returns the scope of its arguments.
    mutating func enterCall(_ node: Syntax, _ scope: Int) -> Int {
        guard let call = node.as(FunctionCallExprSyntax.self) else { return scope }
        let name = self.name(of: call.calledExpression)
        // A call of what was called: where it begins takes a walk through all of them to say.
        guard !name.isEmpty else { return scope }
        let last = name.split(separator: ".").last.map(String.init) ?? name
        self.lookAtCall(call, name, last, scope)
        self.lookAtTrustCall(call, name, last, scope)
        guard LiteralText.speaksOfPins(last) || last == "add" && name.contains("inner") else { return scope }
        let host = self.firstHost(in: call)
        return self.scope(like: scope) {
            $0.names.append(last)
            if let host { $0.host = host }
        }
    }

    /// The name that is called, with dots; of a chain that begins with a call only the last names.
    func name(of expression: ExprSyntax) -> String {
        var parts: [String] = []
        var open: ExprSyntax? = expression
        while let node = open, parts.count < 8 {
            if let member = node.as(MemberAccessExprSyntax.self) {
                parts.append(member.declName.baseName.text)
                open = member.base
            } else if let reference = node.as(DeclReferenceExprSyntax.self) {
                parts.append(reference.baseName.text)
                open = nil
            } else if let generic = node.as(GenericSpecializationExprSyntax.self) {
                open = generic.expression
            } else if let optional = node.as(OptionalChainingExprSyntax.self) {
                open = optional.expression
            } else if let forced = node.as(ForceUnwrapExprSyntax.self) {
                open = forced.expression
            } else {
                open = nil
            }
        }
        return parts.reversed().joined(separator: ".")
    }

    private func argument(_ label: String, of call: FunctionCallExprSyntax) -> ExprSyntax? {
        call.arguments.first { $0.label?.text == label }?.expression
    }

    mutating func lookAtCall(_ call: FunctionCallExprSyntax, _ name: String, _ last: String, _ scope: Int) {
        let line = self.line(of: call)
        let isDebug = self.scopes[scope].isDebug
        let type = last == "init" ? String(name.dropLast(5)) : name
        if last == "pinned" || type == "PinnedTLS" { self.pinsSomething = true }
        switch type {
        case "URLSession", "Foundation.URLSession":
            guard call.arguments.contains(where: { $0.label?.text == "configuration" }) else { return }
            self.session(call, line, scope)
        case "URLSession.pinned", "NWProtocolTLS.Options.pinned", "PinnedHTTPClient", "PinnedTLS.pinned", "PinnedTLS",
            "pinned":
            // `.pinned(by:)` alone is that of the type that is asked for, mostly a session.
            guard type != "pinned" || call.arguments.first?.label?.text == "by" else { return }
            let kind = type == "pinned" ? "URLSession" : name.split(separator: ".").first.map(String.init) ?? name
            self.facts.surfaces.append(NetworkSurface(kind, .pinned, in: self.facts.text.path, line: line))
        case "WKWebView": self.pending.append((.webView, line, scope))
        case "SFSafariViewController":
            self.facts.surface(
                "SFSafariViewController", .unpinned, .safari, at: line, isDebug: isDebug, "a page in Safari's view")
        case "ASWebAuthenticationSession", "SFAuthenticationSession":
            self.facts.surface(
                "ASWebAuthenticationSession", .unpinned, .webAuthentication, at: line, isDebug: isDebug,
                "a log-in by a web page")
        case "AVPlayer", "AVPlayerItem", "AVURLAsset", "AVAsset", "AVQueuePlayer", "VideoPlayer":
            self.player(call, type, line, isDebug)
        case "NWConnection":
            self.pending.append((.connection(text: self.short(call.arguments)), line, scope))
        case "NSURLConnection", "NSURLConnection.sendSynchronousRequest", "NSURLConnection.sendAsynchronousRequest":
            self.facts.surface("NSURLConnection", .unpinned, .oldConnection, at: line, isDebug: isDebug, name)
        case "CFStreamCreatePairWithSocketToHost", "CFStreamCreatePairWithSocketToCFHost",
            "CFReadStreamCreateForHTTPRequest",
            "Stream.getStreamsToHost", "CFSocketStreamCreatePair":
            self.facts.surface("CFStream", .unpinned, .stream, at: line, isDebug: isDebug, name)
        case "AsyncImage":
            let isEmpty = call.arguments.first.map { self.short($0.expression) == "nil" } ?? true
            if !isEmpty {
                self.facts.surface("AsyncImage", .unpinned, .asyncImage, at: line, isDebug: isDebug, "AsyncImage")
            }
        case "Data", "NSData", "String", "NSString", "NSDictionary", "NSArray", "XMLParser", "UIImage":
            self.contents(call, type, line, isDebug)
        default: self.library(call, type, line, scope)
        }
    }

    private mutating func session(_ call: FunctionCallExprSyntax, _ line: Int, _ scope: Int) {
        let delegate = self.argument("delegate", of: call).map { self.short($0) }
        guard let delegate, delegate != "nil" else {
            self.facts.surface(
                "URLSession", .unpinned, .sessionWithoutDelegate, at: line, isDebug: self.scopes[scope].isDebug,
                "a session without a delegate")
            return
        }
        let type: String?
        if delegate == "self" {
            type = self.scopes[scope].type
        } else {
            let head = delegate.prefix { $0 != "(" && $0 != "." && $0 != "<" }
            type = head.first?.isUppercase == true ? String(head) : nil
        }
        self.facts.sessions.append(
            SourceFacts.Session(
                kind: "URLSession", rule: .sessionWithoutDelegate, line: line, delegate: type, isSure: true))
    }

    private mutating func player(_ call: FunctionCallExprSyntax, _ type: String, _ line: Int, _ isDebug: Bool) {
        guard let url = self.argument("url", of: call) else { return }
        let text = self.short(url)
        if text.contains("fileURL") || text.contains("Bundle.") || text.contains("forResource") { return }
        let isRemote = text.contains("http")
        self.facts.surfaces.append(
            NetworkSurface("AVPlayer", isRemote ? .unpinned : .unknown, in: self.facts.text.path, line: line))
        if isRemote {
            self.facts.find(.player, at: line, isDebug: isDebug, "\(type) loads \(text)")
        } else {
            self.facts.findings.append(
                self.facts.text.finding(.player, .note, line: line, "\(type) loads what may not be a file of the app"))
        }
    }

    private mutating func contents(_ call: FunctionCallExprSyntax, _ type: String, _ line: Int, _ isDebug: Bool) {
        guard let first = call.arguments.first, let label = first.label?.text,
            ["contentsOf", "contentsOfURL", "data"].contains(label)
        else { return }
        let text = self.short(first.expression)
        guard text.contains("\"http") else { return }
        self.facts.surface(
            "\(type)(contentsOf:)", .unpinned, .contentsOfURL, at: line, isDebug: isDebug,
            "\(type)(\(label): …) of an address")
    }

    private mutating func library(_ call: FunctionCallExprSyntax, _ type: String, _ line: Int, _ scope: Int) {
        let isDebug = self.scopes[scope].isDebug
        switch type {
        case "Session", "SessionManager", "Alamofire.Session", "Alamofire.SessionManager":
            guard self.imports.contains("Alamofire") else { return }
            let manager =
                self.argument("serverTrustManager", of: call)
                ?? self.argument("serverTrustPolicyManager", of: call)
            if let manager = manager.map({ self.short($0) }), manager != "nil" {
                self.pending.append((.trustManager(text: manager), line, scope))
                return
            }
            self.facts.surface(
                "Alamofire", self.argument("delegate", of: call) == nil ? .unpinned : .unknown, .alamofire, at: line,
                isDebug: isDebug, "a session of Alamofire without a ServerTrustManager")
        case "WebSocket":
            guard self.imports.contains("Starscream") else { return }
            if let pinner = self.argument("certPinner", of: call).map({ self.short($0) }), pinner != "nil" {
                self.pending.append((.pinner(text: pinner), line, scope))
                return
            }
            self.facts.surface(
                "Starscream", .unpinned, .starscream, at: line, isDebug: isDebug, "a WebSocket without certPinner")
        case "HTTPClient":
            guard self.imports.contains("AsyncHTTPClient") else { return }
            self.pending.append((.client(.asyncHTTPClient, text: self.short(call)), line, scope))
        case "NIOSSLClientHandler":
            guard self.imports.contains("NIOSSL") else { return }
            self.pending.append((.client(.nioSSL, text: self.short(call)), line, scope))
        case "GRPCClient", "ClientConnection", "GRPCChannelPool.with", "ClientConnection.usingTLSBackedByNIOSSL",
            "ClientConnection.usingPlatformAppropriateTLS", "ClientConnection.secure", "withGRPCClient":
            guard self.imports.contains(where: { $0.hasPrefix("GRPC") }) else { return }
            // The name is a part of it: some of them say that they are plain.
            self.pending.append((.client(.grpc, text: self.short(call)), line, scope))
        default: break
        }
    }

    // MARK: Members

    /// Examines `A.b`.
    mutating func lookAtMember(_ node: Syntax, _ scope: Int) {
        guard let member = node.as(MemberAccessExprSyntax.self) else { return }
        let name = member.declName.baseName.text
        let line = self.line(of: member.declName)
        self.lookAtTrustMember(name, line, self.scopes[scope].isDebug)
        // A type may be named with its module.
        let qualified = member.base?.as(MemberAccessExprSyntax.self)
        let module = qualified?.base?.as(DeclReferenceExprSyntax.self)?.baseName.text
        let isOfModule = module == "Foundation" || module == "Alamofire"
        let type = isOfModule ? qualified?.declName : member.base?.as(DeclReferenceExprSyntax.self)
        guard let base = type?.baseName.text else { return }
        self.lookAtMember(base, name, line, scope)
    }

    /// Examines a member of a type: what it is for an app that makes no object of its own.
    mutating func lookAtMember(_ base: String, _ name: String, _ line: Int, _ scope: Int) {
        let isDebug = self.scopes[scope].isDebug
        switch (base, name) {
        case ("URLSession", "shared"), ("NSURLSession", "shared"):
            self.facts.surface(
                "URLSession.shared", .unpinned, .sharedSession, at: line, isDebug: isDebug, "URLSession.shared")
        case ("AF", _), ("Session", "default"), ("SessionManager", "default"), ("Alamofire", "request"),
            ("Alamofire", "download"), ("Alamofire", "upload"):
            guard self.imports.contains("Alamofire") else { return }
            self.facts.surface(
                "Alamofire", .unpinned, .alamofire, at: line, isDebug: isDebug, "\(base).\(name): the default session")
        case ("HTTPClient", "shared"):
            guard self.imports.contains("AsyncHTTPClient") else { return }
            self.facts.surface(
                "AsyncHTTPClient", .unpinned, .asyncHTTPClient, at: line, isDebug: isDebug, "HTTPClient.shared")
        default: break
        }
    }

    /// Libraries that connect wherever they are used.
    mutating func lookAtImport(_ module: String, _ node: Syntax, _ scope: Int) {
        self.imports.insert(module)
        let line = self.line(of: node)
        let isDebug = self.scopes[scope].isDebug
        switch module {
        case "SDWebImage", "SDWebImageSwiftUI", "Kingfisher", "Nuke", "NukeUI", "AlamofireImage", "PINRemoteImage":
            self.facts.surface(module, .unpinned, .imageLibrary, at: line, isDebug: isDebug, "\(module) is used here")
        case "Apollo", "Moya", "SocketIO", "Supabase", "Amplify", "Ably", "PubNub", "CocoaMQTT":
            self.facts.surface(module, .unpinned, .networkLibrary, at: line, isDebug: isDebug, "\(module) is used here")
        default:
            guard module.hasPrefix("Firebase") else { return }
            self.facts.surface("Firebase", .unpinned, .firebase, at: line, isDebug: isDebug, "\(module) is used here")
        }
    }
}
