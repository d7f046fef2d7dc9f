// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

extension RuleFixture {
    private static let firstPin = "BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="
    private static let secondPin = "CAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg="

    private static func pinnedDomain(_ host: String, _ body: String) -> String {
        "<key>\(host)</key><dict>\(body)</dict>"
    }

    private static func identities(_ key: String, _ pin: String = firstPin) -> String {
        "<key>\(key)</key><array><dict><key>SPKI-SHA256-BASE64</key><string>\(pin)</string></dict></array>"
    }

    /// An entry and the one above it, which covers subdomains.
    private static func nested(_ child: String, _ parent: String, below: String = "api.acme.com") -> String {
        transport(
            "<key>NSPinnedDomains</key><dict>"
                + pinnedDomain("acme.com", "<key>NSIncludesSubdomains</key><true/>" + parent)
                + pinnedDomain(below, child) + "</dict>")
    }

    private static func trustKit(_ body: String) -> String {
        propertyList(
            "<key>TSKConfiguration</key><dict><key>TSKPinnedDomains</key><dict><key>api.acme.com</key><dict>\(body)</dict></dict></dict>"
        )
    }

    /// Property lists, lock files, and Android's configuration.
    static let files: [RuleFixture] = [
        RuleFixture(
            "ats-arbitrary-loads", "Info.plist", fires: transport("<key>NSAllowsArbitraryLoads</key><true/>"),
            quiet: transport("<key>NSAllowsArbitraryLoads</key><false/>")),
        RuleFixture(
            "ats-arbitrary-loads-media", "Info.plist",
            fires: transport("<key>NSAllowsArbitraryLoadsForMedia</key><true/>"),
            quiet: transport("<key>NSAllowsArbitraryLoadsForMedia</key><false/>")),
        RuleFixture(
            "ats-arbitrary-loads-web", "Info.plist",
            fires: transport("<key>NSAllowsArbitraryLoadsInWebContent</key><true/>"),
            quiet: transport("<key>NSAllowsArbitraryLoadsInWebContent</key><false/>")),
        RuleFixture(
            "ats-local-networking", "Info.plist", fires: transport("<key>NSAllowsLocalNetworking</key><true/>"),
            quiet: transport("<key>NSAllowsLocalNetworking</key><false/>")),
        RuleFixture(
            "ats-insecure-http", "Info.plist", fires: exception("<key>NSExceptionAllowsInsecureHTTPLoads</key><true/>"),
            quiet: exception("<key>NSExceptionAllowsInsecureHTTPLoads</key><false/>")),
        RuleFixture(
            "ats-old-tls", "Info.plist",
            fires: exception("<key>NSExceptionMinimumTLSVersion</key><string>TLSv1.1</string>"),
            quiet: exception("<key>NSExceptionMinimumTLSVersion</key><string>TLSv1.2</string>")),
        RuleFixture(
            "ats-no-forward-secrecy", "Info.plist",
            fires: exception("<key>NSExceptionRequiresForwardSecrecy</key><false/>"),
            quiet: exception("<key>NSExceptionRequiresForwardSecrecy</key><true/>")),
        RuleFixture(
            "ats-pinned-domains-union", "Info.plist",
            fires: transport(
                "<key>NSPinnedDomains</key><dict>"
                    + pinnedDomain(
                        "acme.com", "<key>NSIncludesSubdomains</key><true/>" + identities("NSPinnedCAIdentities"))
                    + pinnedDomain("api.acme.com", identities("NSPinnedLeafIdentities")) + "</dict>"),
            quiet: transport(
                "<key>NSPinnedDomains</key><dict>"
                    + pinnedDomain(
                        "acme.com", "<key>NSIncludesSubdomains</key><false/>" + identities("NSPinnedCAIdentities"))
                    + pinnedDomain("api.acme.com", identities("NSPinnedLeafIdentities")) + "</dict>")),
        RuleFixture(
            "ats-pinned-domains-union", "Info.plist",
            fires: nested(identities("NSPinnedCAIdentities"), identities("NSPinnedLeafIdentities")),
            quiet: nested(
                identities("NSPinnedLeafIdentities"), identities("NSPinnedCAIdentities"), below: "eu.api.acme.com")),
        RuleFixture(
            "ats-pinned-domains-union", "Info.plist",
            fires: nested(identities("NSPinnedLeafIdentities"), identities("NSPinnedLeafIdentities", secondPin)),
            quiet: nested(identities("NSPinnedLeafIdentities"), identities("NSPinnedLeafIdentities"))),
        RuleFixture(
            "trustkit-expired", "Info.plist",
            fires: trustKit("<key>TSKExpirationDate</key><string>2026-11-23</string>"),
            quiet: trustKit("<key>TSKExpirationDate</key><string>2026-11-24</string>")),
        RuleFixture(
            "trustkit-expired", "Info.plist",
            fires: trustKit("<key>TSKExpirationDate</key><date>2026-11-23T12:00:00Z</date>"),
            quiet: trustKit("<key>TSKExpirationDate</key><date>2026-11-23T12:00:01Z</date>")),
        RuleFixture(
            "trustkit-no-backup", "Info.plist",
            fires: trustKit("<key>TSKPublicKeyHashes</key><array><string>\(firstPin)</string></array>"),
            quiet: trustKit(
                "<key>TSKPublicKeyHashes</key><array><string>\(firstPin)</string><string>\(secondPin)</string></array>")
        ),
        RuleFixture(
            "trustkit-unreadable", "Info.plist",
            fires: trustKit(
                "<key>TSKPublicKeyHashes</key><array><string>\(firstPin)</string><string>\(secondPin)</string><string>AAAA</string></array>"
            ),
            quiet: trustKit(
                "<key>TSKPublicKeyHashes</key><array><string>\(firstPin)</string><string>\(secondPin)</string></array>")
        ),
        RuleFixture(
            "trustkit-not-enforced", "Info.plist", fires: trustKit("<key>TSKEnforcePinning</key><false/>"),
            quiet: trustKit("<key>TSKEnforcePinning</key><true/>")),
        RuleFixture(
            "trustkit-not-enforced", "Info.plist",
            fires: trustKit("<key>TSKEnforcePinning</key><string>NO</string>"),
            quiet: trustKit("<key>TSKEnforcePinning</key><string>YES</string>")),
        RuleFixture(
            "trustkit-not-enforced", "Info.plist",
            fires: trustKit("<key>TSKEnforcePinning</key><string>maybe</string>"),
            quiet: trustKit("<key>TSKEnforcePinning</key><string>Yes, always</string>")),
        RuleFixture(
            "ats-arbitrary-loads", "Info.plist",
            fires: transport("<key>NSAllowsArbitraryLoads</key><string>YES</string>"),
            quiet: transport("<key>NSAllowsArbitraryLoads</key><string>NO</string>")),
        RuleFixture(
            "trustkit-not-enforced", "Info.plist", fires: trustKit("<key>TSKEnforcePinning</key><integer>0</integer>"),
            quiet: trustKit("<key>TSKEnforcePinning</key><integer>1</integer>")),
        RuleFixture(
            "trustkit-swizzling", "Info.plist",
            fires: propertyList("<key>TSKConfiguration</key><dict><key>TSKSwizzleNetworkDelegates</key><true/></dict>"),
            quiet: propertyList("<key>TSKConfiguration</key><dict><key>TSKSwizzleNetworkDelegates</key><false/></dict>")
        ),
        RuleFixture(
            "entitlement-weakens-code", "App.entitlements",
            fires: propertyList("<key>com.apple.security.cs.disable-library-validation</key><true/>"),
            quiet: propertyList("<key>com.apple.security.cs.disable-library-validation</key><false/>")),
        RuleFixture(
            "entitlement-network-extension", "App.entitlements",
            fires: propertyList(
                "<key>com.apple.developer.networking.networkextension</key><array><string>packet-tunnel-provider</string></array>"
            ), quiet: propertyList("<key>com.apple.developer.networking.multipath</key><true/>")),
        RuleFixture(
            "third-party-network", "Package.resolved",
            fires:
                #"{"pins":[{"identity":"alamofire","location":"https://github.com/Alamofire/Alamofire"}],"version":3}"#,
            quiet:
                #"{"pins":[{"identity":"swift-argument-parser","location":"https://github.com/apple/swift-argument-parser"}],"version":3}"#
        ),
        RuleFixture(
            "third-party-network", "Podfile.lock", fires: "PODS:\n  - Firebase/Core (10.0.0):\n    - Nothing\n",
            quiet: "PODS:\n  - SnapKit (5.6.0)\nDEPENDENCIES:\n  - Firebase\n"),
        RuleFixture(
            "unreadable", "Info.plist", fires: "<plist><dict><key>a</key>", quiet: propertyList("<key>a</key><true/>")),
        RuleFixture(
            "android-cleartext", "network_security_config.xml",
            fires: networkSecurity("<base-config cleartextTrafficPermitted=\"true\"/>"),
            quiet: networkSecurity(
                "<domain-config cleartextTrafficPermitted=\"true\"><domain>localhost</domain></domain-config>")),
        RuleFixture(
            "android-cleartext", "AndroidManifest.xml",
            fires: "<manifest xmlns:android=\"a\"><application android:usesCleartextTraffic=\"true\"/></manifest>",
            quiet: "<manifest xmlns:android=\"a\"><application android:usesCleartextTraffic=\"false\"/></manifest>"),
        RuleFixture(
            "android-user-anchors", "network_security_config.xml",
            fires: networkSecurity(
                "<base-config><trust-anchors><certificates src=\"user\"/></trust-anchors></base-config>"),
            quiet: networkSecurity(
                "<debug-overrides><trust-anchors><certificates src=\"user\"/></trust-anchors></debug-overrides>")),
        RuleFixture(
            "android-override-pins", "network_security_config.xml",
            fires: networkSecurity(
                "<base-config><trust-anchors><certificates src=\"@raw/own\" overridePins=\"true\"/></trust-anchors></base-config>"
            ),
            quiet: networkSecurity(
                "<base-config><trust-anchors><certificates src=\"@raw/own\"/></trust-anchors></base-config>")),
        RuleFixture(
            "android-pins-expired", "network_security_config.xml",
            fires: networkSecurity(
                "<domain-config><domain>api.acme.com</domain><pin-set expiration=\"2026-01-01\"><pin digest=\"SHA-256\">\(firstPin)</pin></pin-set></domain-config>"
            ),
            quiet: networkSecurity(
                "<domain-config><domain>api.acme.com</domain><pin-set expiration=\"2027-01-01\"><pin digest=\"SHA-256\">\(firstPin)</pin></pin-set></domain-config>"
            )),
        RuleFixture(
            "android-no-backup", "network_security_config.xml",
            fires: networkSecurity(
                "<domain-config><domain>api.acme.com</domain><pin-set><pin digest=\"SHA-256\">\(firstPin)</pin></pin-set></domain-config>"
            ),
            quiet: networkSecurity(
                "<domain-config><domain>api.acme.com</domain><pin-set><pin digest=\"SHA-256\">\(firstPin)</pin><pin digest=\"SHA-256\">\(secondPin)</pin></pin-set></domain-config>"
            )),
    ]
}
