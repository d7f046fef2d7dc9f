// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import SwiftParser
internal import SwiftSyntax

/// Audits a Swift file, by its syntax tree.
///
/// The walk keeps its own stack, since a chain of a million members nests as deeply, and a call for each would end the
/// process. Nothing is known of types: what a name means is guessed by how it is written and by what is imported.
struct SwiftSource {
    /// The scope of a node in the file.
    struct Scope {
        /// The name of the type around it.
        var type: String?
        /// The index of the function around it.
        var function: Int?
        /// Whether it is compiled with `#if DEBUG` alone.
        var isDebug = false
        /// Names beside it that may speak of pins: of a binding, a label, a key.
        var names: [String] = []
        /// A host that stands beside it.
        var host: String?
    }

    /// The actions of a function, nested ones included.
    struct Function {
        let name: String
        let line: Int
        let outer: Int?
        /// Whether it takes a URLAuthenticationChallenge.
        let isHandler: Bool
        let type: String?
        /// The names in it.
        var names: Set<String> = []
        /// The lines at which it makes a credential of a trust.
        var credentials: [(line: Int, isDebug: Bool)] = []
        /// The lines at which it sets anchors.
        var anchors: [(line: Int, isDebug: Bool)] = []
    }

    var facts: SourceFacts
    var functions: [Function] = []
    /// Modules that are imported.
    var imports: Set<String> = []
    /// Names in the whole file.
    var names: Set<String> = []
    /// The values that navigation delegates are set to.
    var navigationDelegates: [String] = []
    /// Web views, connections and others that only the whole file decides.
    var pending: [(kind: Pending, line: Int, scope: Int)] = []
    var scopes: [Scope] = [Scope()]
    /// Values that names are bound to, in files that import what makes connections of its own.
    var bindings: [String: [(function: Int?, value: String)]] = [:]
    /// The names of TLS options that a verify block was set for, the function of that, and whether it is the one that pins.
    var verifiedOptions: [(name: String, function: Int?, isPinned: Bool)] = []
    /// Whether something is made with pins that may be what a connection takes.
    var pinsSomething = false
    /// Types whose coordinator is a navigation delegate that pins.
    var pinnedCoordinators: Set<String> = []
    private var branches: [SyntaxIdentifier: DebugBranches] = [:]
    let now: String

    /// A finding that waits for the end of the file.
    enum Pending {
        case webView
        case connection(text: String)
        case client(Client, text: String)
        /// The manager of server trust of a session of Alamofire.
        case trustManager(text: String)
        /// The pinner of a WebSocket of Starscream.
        case pinner(text: String)
    }

    /// A client of a library on SwiftNIO.
    enum Client {
        case grpc
        case asyncHTTPClient
        case nioSSL
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - text: The file.
    ///   - today: The day, `yyyy-MM-dd`, for dates in it.
    static func facts(of text: SourceText, today: String) -> SourceFacts {
        if let defect = SourceShape.defect(of: text.bytes) {
            var facts = SourceFacts(text)
            facts.findings.append(text.finding(.unreadable, line: nil, "it is not parsed: \(defect)"))
            return facts
        }
        var source = SwiftSource(facts: SourceFacts(text), now: today)
        source.walk()
        source.finish()
        return source.facts
    }

    private init(facts: SourceFacts, now: String) {
        self.facts = facts
        self.now = now
    }

    private mutating func walk() {
        let tree = self.facts.text.bytes.withUnsafeBufferPointer { Parser.parse(source: $0) }
        if tree.hasError { self.noteErrors(tree) }
        var open: [(node: Syntax, scope: Int)] = [(Syntax(tree), 0)]
        while let (node, scope) = open.popLast() {
            if let token = node.as(TokenSyntax.self) {
                if case .identifier(let name) = token.tokenKind { self.note(name, scope) }
                continue
            }
            let inner = self.enter(node, scope)
            for child in node.children(viewMode: .sourceAccurate).reversed() { open.append((child, inner)) }
        }
    }

    private mutating func noteErrors(_ tree: SourceFileSyntax) {
        for token in tree.tokens(viewMode: .all)
        where token.presence == .missing || token.parent?.kind == .unexpectedNodes {
            self.facts.find(.sourceErrors, at: self.line(of: token), "it does not parse from here on")
            return
        }
        self.facts.find(.sourceErrors, at: 1, "it does not parse")
    }

    private mutating func note(_ name: String, _ scope: Int) {
        self.names.insert(name)
        if let function = self.scopes[scope].function { self.functions[function].names.insert(name) }
    }

    /// The line of a node.
    func line(of node: some SyntaxProtocol) -> Int {
        self.facts.text.line(of: node.positionAfterSkippingLeadingTrivia.utf8Offset)
    }

    /// The text of a node, unless it is long.
    func short(_ node: some SyntaxProtocol) -> String {
        node.totalLength.utf8Length <= 2_000 ? node.trimmedDescription : ""
    }

    /// A scope like another one, changed.
    mutating func scope(like scope: Int, _ change: (inout Scope) -> Void) -> Int {
        var new = self.scopes[scope]
        change(&new)
        self.scopes.append(new)
        return self.scopes.count - 1
    }

    /// Examines a node, and returns the scope of its children.
    private mutating func enter(_ node: Syntax, _ scope: Int) -> Int {
        switch node.kind {
        case .classDecl, .structDecl, .enumDecl, .actorDecl, .extensionDecl: return self.enterType(node, scope)
        case .functionDecl, .initializerDecl, .accessorDecl: return self.enterFunction(node, scope)
        case .ifConfigDecl: return scope
        case .ifConfigClause: return self.enterClause(node, scope)
        case .patternBinding: return self.enterBinding(node, scope)
        case .functionParameter: self.lookAtParameter(node, scope)
        case .functionCallExpr: return self.enterCall(node, scope)
        case .memberAccessExpr: self.lookAtMember(node, scope)
        case .declReferenceExpr: self.lookAtReference(node, scope)
        case .sequenceExpr: self.lookAtSequence(node, scope)
        case .switchCaseLabel: self.lookAtCase(node, scope)
        case .stringLiteralExpr: self.lookAtLiteral(node, scope)
        case .dictionaryElement: return self.enterElement(node, scope)
        case .labeledExpr: return self.enterLabel(node, scope)
        case .importDecl:
            if let path = node.as(ImportDeclSyntax.self)?.path.first?.name.text { self.lookAtImport(path, node, scope) }
        default: break
        }
        return scope
    }

    // MARK: Declarations

    private mutating func enterType(_ node: Syntax, _ scope: Int) -> Int {
        let name: String
        switch node.kind {
        case .extensionDecl: name = node.as(ExtensionDeclSyntax.self).map { self.short($0.extendedType) } ?? ""
        default: name = node.asProtocol((any NamedDeclSyntax).self)?.name.text ?? ""
        }
        if node.kind != .extensionDecl { self.facts.types.insert(name) }
        if let inherited = node.as(ClassDeclSyntax.self)?.inheritanceClause?.inheritedTypes {
            for type in inherited.map({ self.short($0.type) }) {
                switch type {
                case "URLProtocol", "NSURLProtocol":
                    self.facts.surface(
                        "URLProtocol", .unpinned, .urlProtocol, at: self.line(of: node),
                        isDebug: self.scopes[scope].isDebug, "\(name) is a URLProtocol")
                case "WKWebView": self.pending.append((.webView, self.line(of: node), scope))
                // What the subclass changes is not seen.
                case "PinnedSessionDelegate", "PinnedNavigationDelegate": self.facts.handlers[name] = .unknown
                default: break
                }
            }
        }
        return self.scope(like: scope) {
            $0.type = name
            $0.function = nil
            if LiteralText.speaksOfPins(name) { $0.names.append(name) }
        }
    }

    private mutating func enterFunction(_ node: Syntax, _ scope: Int) -> Int {
        let declaration = node.as(FunctionDeclSyntax.self)
        let parameters =
            declaration?.signature.parameterClause.parameters
            ?? node.as(InitializerDeclSyntax.self)?.signature.parameterClause.parameters
        let isHandler = parameters?.contains { self.short($0.type).contains("URLAuthenticationChallenge") } ?? false
        let name = declaration?.name.text ?? "init"
        if name == "makeCoordinator", let type = self.scopes[scope].type,
            declaration?.signature.returnClause.map({ self.short($0.type) }) == "PinnedNavigationDelegate"
        {
            self.pinnedCoordinators.insert(type)
        }
        self.functions.append(
            Function(
                name: name, line: self.line(of: node), outer: self.scopes[scope].function, isHandler: isHandler,
                type: self.scopes[scope].type))
        let index = self.functions.count - 1
        return self.scope(like: scope) {
            $0.function = index
            if LiteralText.speaksOfPins(name) { $0.names.append(name) }
        }
    }

    private mutating func enterClause(_ node: Syntax, _ scope: Int) -> Int {
        guard let clause = node.as(IfConfigClauseSyntax.self) else { return scope }
        let list = clause.parent?.id ?? clause.id
        var branches = self.branches[list] ?? DebugBranches()
        branches.enter(clause.condition.flatMap { DebugCondition.holdsInRelease(self.short($0)) })
        self.branches[list] = branches
        return branches.isDebug ? self.scope(like: scope) { $0.isDebug = true } : scope
    }

    private mutating func enterBinding(_ node: Syntax, _ scope: Int) -> Int {
        guard let binding = node.as(PatternBindingSyntax.self) else { return scope }
        let name = self.short(binding.pattern)
        if let type = binding.typeAnnotation?.type, let value = binding.initializer?.value {
            self.lookAtDefault(type: type, value: value, scope)
        }
        if let value = binding.initializer?.value, self.makesConnections {
            self.bindings[name, default: []].append((self.scopes[scope].function, self.short(value)))
        }
        guard let value = binding.initializer?.value, LiteralText.speaksOfPins(name) else { return scope }
        let host = self.firstHost(in: value)
        return self.scope(like: scope) {
            $0.names.append(name)
            if let host { $0.host = host }
        }
    }

    /// A value whose type stands beside it: `.init(…)`, and `URLSession.shared` and its kin in short.
    private mutating func lookAtDefault(type: TypeSyntax, value: ExprSyntax, _ scope: Int) {
        if let call = value.as(FunctionCallExprSyntax.self),
            let called = call.calledExpression.as(MemberAccessExprSyntax.self), called.base == nil,
            called.declName.baseName.text == "init"
        {
            let name = "\(self.short(type).filter { $0 != "?" && $0 != "!" }).init"
            self.lookAtCall(call, name, "init", scope)
            self.lookAtTrustCall(call, name, "init", scope)
            return
        }
        guard let member = value.as(MemberAccessExprSyntax.self), member.base == nil else { return }
        self.lookAtMember(self.short(type), member.declName.baseName.text, self.line(of: value), scope)
    }

    private mutating func lookAtParameter(_ node: Syntax, _ scope: Int) {
        guard let parameter = node.as(FunctionParameterSyntax.self), let value = parameter.defaultValue?.value else {
            return
        }
        self.lookAtDefault(type: parameter.type, value: value, scope)
    }

    // MARK: Literals

    /// The text of a literal up to its first interpolation.
    func literal(_ node: some SyntaxProtocol) -> String? {
        guard let literal = node.as(StringLiteralExprSyntax.self),
            let segment = literal.segments.first?.as(StringSegmentSyntax.self)
        else { return nil }
        return segment.content.text
    }

    /// The first literal in a small expression that is a host.
    func firstHost(in node: some SyntaxProtocol) -> String? {
        guard node.totalLength.utf8Length <= 2_000 else { return nil }
        for token in node.tokens(viewMode: .sourceAccurate) {
            if case .stringSegment(let text) = token.tokenKind, LiteralText.isHost(text) { return text }
        }
        return nil
    }

    private mutating func lookAtLiteral(_ node: Syntax, _ scope: Int) {
        guard let text = self.literal(node) else { return }
        let line = self.line(of: node)
        if text.has("://") { self.facts.address(text, at: line, isDebug: self.scopes[scope].isDebug) }
        if let digest = LiteralText.digest(text) {
            let around = self.scopes[scope].names
            let isNamed = digest.hasPrefix || !around.isEmpty
            self.facts.pins.append(
                SourceFacts.PinLiteral(
                    digest: digest.bytes, line: line, host: self.scopes[scope].host, isNamed: isNamed))
        }
    }

    private mutating func enterElement(_ node: Syntax, _ scope: Int) -> Int {
        guard let element = node.as(DictionaryElementSyntax.self) else { return scope }
        let key = self.literal(element.key) ?? self.short(element.key)
        self.lookAtTrustKit(key: key, value: element.value, scope)
        return self.scope(like: scope) {
            if LiteralText.speaksOfPins(key) { $0.names.append(key) }
            if LiteralText.isHost(key) { $0.host = key }
        }
    }

    private mutating func enterLabel(_ node: Syntax, _ scope: Int) -> Int {
        guard let argument = node.as(LabeledExprSyntax.self), let label = argument.label?.text else { return scope }
        self.lookAtAssignment(label, argument.expression, scope)
        guard LiteralText.speaksOfPins(label) else { return scope }
        return self.scope(like: scope) { $0.names.append(label) }
    }
}
