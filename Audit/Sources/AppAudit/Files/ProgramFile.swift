// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import AppArtifacts

/// Audits a Mach-O file: the libraries that it links, the TLS that it has, and its calls.
struct ProgramFile {
    /// The result of an audit.
    struct Outcome {
        var findings: [AuditFinding] = []
        var surfaces: [NetworkSurface] = []
    }

    /// TLS libraries by names that only they have.
    private static let stacks: [String: String] = [
        "_SSL_CTX_set_custom_verify": "BoringSSL", "_BORINGSSL_self_test": "BoringSSL",
        "_OSSL_PROVIDER_load": "OpenSSL", "_OPENSSL_init_ssl": "OpenSSL or BoringSSL",
        "_SSL_library_init": "OpenSSL or BoringSSL", "_SSL_CTX_set_verify": "OpenSSL or BoringSSL",
        "_SSL_do_handshake": "OpenSSL or BoringSSL", "_mbedtls_ssl_handshake": "mbedTLS",
        "_mbedtls_ssl_setup": "mbedTLS", "_Cronet_Engine_Create": "Cronet", "_Cronet_EngineParams_Create": "Cronet",
        "_curl_easy_perform": "libcurl", "_gnutls_handshake": "GnuTLS", "_wolfSSL_connect": "wolfSSL",
        "_tls_connect": "LibreSSL's libtls",
        "_s2n_negotiate": "s2n", "_rustls_connection_process_new_packets": "rustls",
    ]

    /// Classes and functions of the system that connect, by the names under which they are imported.
    private static let imported: [String: String] = [
        "_OBJC_CLASS_$_NSURLSession": "URLSession", "_OBJC_CLASS_$_WKWebView": "WKWebView",
        "_OBJC_CLASS_$_UIWebView": "UIWebView",
        "_OBJC_CLASS_$_SFSafariViewController": "SFSafariViewController",
        "_OBJC_CLASS_$_ASWebAuthenticationSession": "ASWebAuthenticationSession", "_OBJC_CLASS_$_AVPlayer": "AVPlayer",
        "_OBJC_CLASS_$_AVAsset": "AVPlayer", "_OBJC_CLASS_$_AVPlayerItem": "AVPlayer",
        "_OBJC_CLASS_$_AVQueuePlayer": "AVPlayer", "_OBJC_CLASS_$_AVURLAsset": "AVPlayer",
        "_OBJC_CLASS_$_NSURLConnection": "NSURLConnection", "_CFStreamCreatePairWithSocketToHost": "CFStream",
        "_CFReadStreamCreateForHTTPRequest": "CFStream", "_nw_connection_create": "NWConnection",
        "_SSLHandshake": "SecureTransport",
    ]

    /// Types of the system that only Swift has, by how the names of all that is theirs begin.
    private static let mangled = [
        ("_$s7Network12NWConnectionC", "NWConnection"), ("_$s7SwiftUI10AsyncImageV", "AsyncImage"),
    ]

    /// The functions that switch trust off.
    private static let trust: [String: AuditRule] = ["_SecTrustSetExceptions": .trustExceptions]

    /// Reads a file.
    ///
    /// - Throws: ``ArtifactError`` when nothing of it can be read.
    static func outcome(of bytes: [UInt8], path: String) throws(ArtifactError) -> Outcome {
        let file = try MachOFile(bytes)
        var outcome = Outcome()
        for defect in file.defects {
            outcome.findings.append(AuditFinding(.unreadable, in: path, "one of its architectures: \(defect)"))
        }
        var stacks: [String: String] = [:]
        var kinds = Set<String>()
        var rules: [String: AuditRule] = [:]
        file.forEachSymbol { name, isDefined in
            // gRPC and others put a prefix of their own before the names.
            let plain = Self.withoutPrefix(name)
            if let stack = Self.stacks[plain] { stacks[stack] = isDefined ? "in it" : stacks[stack] ?? "linked" }
            guard !isDefined else { return }
            if let kind = Self.imported[name] { kinds.insert(kind) }
            for (start, kind) in Self.mangled where name.hasPrefix(start) { kinds.insert(kind) }
            if let rule = Self.trust[name] { rules[name] = rule }
        }
        if stacks["OpenSSL"] != nil || stacks["BoringSSL"] != nil { stacks["OpenSSL or BoringSSL"] = nil }
        for (stack, how) in stacks.sorted(by: { $0.key < $1.key }) {
            outcome.findings.append(AuditFinding(.ownTLS, in: path, "\(stack), \(how)"))
            outcome.surfaces.append(NetworkSurface(stack, .unknown, in: path, line: nil))
        }
        for kind in kinds.sorted() { outcome.surfaces.append(NetworkSurface(kind, .unknown, in: path, line: nil)) }
        for (name, rule) in rules.sorted(by: { $0.key < $1.key }) {
            outcome.findings.append(AuditFinding(rule, .warning, in: path, "the program imports \(name.dropFirst())"))
        }
        var seen = Set<String>()
        for library in file.slices.flatMap(\.libraries) {
            let name = Self.name(of: library)
            guard seen.insert(name).inserted, let sdk = KnownSDK.named(name) else { continue }
            outcome.findings.append(AuditFinding(.thirdParty, in: path, "it links \(sdk.name) (\(name)): \(sdk.hint)"))
        }
        return outcome
    }

    /// `@rpath/Name.framework/Name` and `/usr/lib/libname.4.dylib` by their names.
    static func name(of library: String) -> String {
        let last = library.split(separator: "/").last.map(String.init) ?? library
        guard last.hasSuffix(".dylib") else { return last }
        let base = last.split(separator: ".").first.map(String.init) ?? last
        return base.hasPrefix("lib") ? String(base.dropFirst(3)) : base
    }

    private static func withoutPrefix(_ name: String) -> String {
        for start in ["_GRPC_SHADOW_", "_CNIOBoringSSL_", "_CCryptoBoringSSL_", "_aws_lc_"] where name.hasPrefix(start)
        {
            return "_" + name.dropFirst(start.count)
        }
        return name
    }
}
