// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import Foundation

/// SDKs that connect by themselves, by the names in lock files and of frameworks.
struct KnownSDK {
    /// The name of the SDK.
    let name: String
    /// The advice on its connections.
    let hint: String

    private static let all: [(names: [String], sdk: KnownSDK)] = [
        (
            ["firebase-ios-sdk", "firebase", "firebasecore", "googleappmeasurement"],
            KnownSDK(name: "Firebase", hint: "no pins can be set")
        ),
        (
            ["facebook-ios-sdk", "fbsdkcorekit", "facebookcore"],
            KnownSDK(name: "Facebook SDK", hint: "no pins can be set")
        ),
        (
            ["appsflyerframework", "appsflyerlib", "appsflyerframework-static"],
            KnownSDK(name: "AppsFlyer", hint: "no pins can be set")
        ),
        (["ios_sdk", "adjust", "adjustsdk"], KnownSDK(name: "Adjust", hint: "no pins can be set")),
        (
            ["sentry-cocoa", "sentry"],
            KnownSDK(name: "Sentry", hint: "SentryOptions.urlSession takes the pinned session")
        ),
        (["bugsnag-cocoa", "bugsnag"], KnownSDK(name: "Bugsnag", hint: "its configuration takes a URLSession")),
        (
            ["dd-sdk-ios", "datadogcore", "datadog-objc"],
            KnownSDK(name: "Datadog", hint: "a proxy configuration alone can be set")
        ),
        (["mixpanel-swift", "mixpanel"], KnownSDK(name: "Mixpanel", hint: "no pins can be set")),
        (["amplitude-ios", "amplitude-swift", "amplitude"], KnownSDK(name: "Amplitude", hint: "no pins can be set")),
        (
            ["segment", "analytics-swift", "analytics-ios"],
            KnownSDK(name: "Segment", hint: "its request factory can be replaced")
        ),
        (
            ["onesignal-ios-sdk", "onesignal", "onesignalxcframework", "onesignalframework"],
            KnownSDK(name: "OneSignal", hint: "no pins can be set")
        ),
        (["braze-swift-sdk", "brazekit", "appboy-ios-sdk"], KnownSDK(name: "Braze", hint: "no pins can be set")),
        (
            ["stripe-ios", "stripe", "stripepayments"],
            KnownSDK(name: "Stripe", hint: "STPAPIClient.urlSession takes the pinned session")
        ),
        (["braintree_ios", "braintree"], KnownSDK(name: "Braintree", hint: "it pins by itself")),
        (["newrelic-ios-agent-spm", "newrelicagent"], KnownSDK(name: "New Relic", hint: "no pins can be set")),
        (["instabug-ios", "instabug"], KnownSDK(name: "Instabug", hint: "no pins can be set")),
        (["alamofire"], KnownSDK(name: "Alamofire", hint: "Session takes a ServerTrustManager or a delegate")),
        (["afnetworking"], KnownSDK(name: "AFNetworking", hint: "AFSecurityPolicy pins")),
        (["moya"], KnownSDK(name: "Moya", hint: "MoyaProvider takes a Session of Alamofire")),
        (["starscream"], KnownSDK(name: "Starscream", hint: "WebSocket takes a certPinner")),
        (["socketrocket"], KnownSDK(name: "SocketRocket", hint: "SRSecurityPolicy pins")),
        (
            ["socket.io-client-swift"],
            KnownSDK(name: "Socket.IO", hint: "it takes a session delegate and a security object")
        ),
        (
            ["sdwebimage"],
            KnownSDK(
                name: "SDWebImage",
                hint: "SDWebImageDownloaderConfig takes a session configuration; pins need a delegate")
        ),
        (["kingfisher"], KnownSDK(name: "Kingfisher", hint: "its downloader takes an authentication responder")),
        (["nuke"], KnownSDK(name: "Nuke", hint: "its DataLoader takes a delegate")),
        (["apollo-ios", "apollo"], KnownSDK(name: "Apollo", hint: "its transport takes a session client")),
        (
            ["grpc-swift", "grpc-swift-2", "grpc-c++", "grpc-core", "grpc-binary"],
            KnownSDK(name: "gRPC", hint: "PinnedTLS of PinningGRPC, or a verification callback")
        ),
        (["async-http-client"], KnownSDK(name: "AsyncHTTPClient", hint: "PinnedHTTPClient of PinningNIO")),
        (
            ["boringssl-grpc", "boringssl-swiftpm", "openssl-universal", "openssl"],
            KnownSDK(name: "a TLS library", hint: "it knows nothing of the system's pins")
        ),
        (
            ["realm-swift", "realm", "realmswift"],
            KnownSDK(name: "Realm Sync", hint: "its sync configuration takes certificates")
        ),
        (["googlemaps", "google-maps-ios-utils"], KnownSDK(name: "Google Maps", hint: "no pins can be set")),
        (
            ["google-mobile-ads-sdk", "swift-package-manager-google-mobile-ads", "googlemobileads"],
            KnownSDK(name: "Google Mobile Ads", hint: "no pins can be set")
        ),
        (
            ["purchases-ios", "revenuecat"],
            KnownSDK(name: "RevenueCat", hint: "no pins can be set; answers are signed")
        ),
        (
            ["launchdarkly", "ios-client-sdk"],
            KnownSDK(name: "LaunchDarkly", hint: "its configuration takes a header delegate, not pins")
        ),
        (
            ["amplify-swift", "amplify-ios", "aws-sdk-ios", "awscore"],
            KnownSDK(name: "AWS", hint: "no pins can be set")
        ),
        (
            ["livekit", "client-sdk-swift", "webrtc", "googlewebrtc"],
            KnownSDK(name: "WebRTC", hint: "media goes over DTLS of its own")
        ),
        (["curl", "curlswift"], KnownSDK(name: "libcurl", hint: "CURLOPT_PINNEDPUBLICKEY pins")),
        (["cronet"], KnownSDK(name: "Cronet", hint: "it takes public-key pins")),
    ]

    private static let byName: [String: KnownSDK] = {
        var table: [String: KnownSDK] = [:]
        for (names, sdk) in Self.all { for name in names { table[name] = sdk } }
        return table
    }()

    /// An SDK by the name of a package, a pod or a framework; subspecs are those of their pod.
    static func named(_ name: String) -> KnownSDK? {
        let base = name.lowercased().split(separator: "/").first.map(String.init) ?? ""
        return self.byName[base]
    }

    /// The names in a Package.resolved, of all its versions; `nil` where it is none.
    static func packages(in bytes: [UInt8]) -> [String]? {
        guard let value = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else { return nil }
        let pins = value["pins"] as? [[String: Any]] ?? (value["object"] as? [String: Any])?["pins"] as? [[String: Any]]
        return pins?.compactMap { pin in
            if let name = pin["identity"] as? String { return name }
            // Version 1 has the address.
            let address = (pin["repositoryURL"] as? String ?? "").split(separator: "/").last.map(String.init)
            return address.map { $0.hasSuffix(".git") ? String($0.dropLast(4)) : $0 }
        }
    }

    /// The names under `PODS:` of a Podfile.lock, with their lines.
    static func pods(in text: SourceText) -> [(name: String, line: Int)] {
        var found: [(name: String, line: Int)] = []
        var isInside = false
        for (index, line) in String(decoding: text.bytes, as: UTF8.self).split(
            separator: "\n", omittingEmptySubsequences: false
        ).enumerated() {
            if line.first?.isLetter == true { isInside = line.hasPrefix("PODS:") }
            guard isInside, line.hasPrefix("  - ") else { continue }
            let name = line.dropFirst(4).drop { $0 == "\"" }.prefix { !" (:\"".contains($0) }
            found.append((String(name), index + 1))
        }
        return found
    }
}
