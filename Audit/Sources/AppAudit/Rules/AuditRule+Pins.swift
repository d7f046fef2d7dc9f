// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Pins and certificates, the embedded list, and Android.
extension AuditRule {
    static let ofPins = [
        pinInSource, pinNotInList, pinOfRawKey, certificate, certificateExpired, certificateExpiring, trustKitExpired,
        trustKitOnePin, trustKitNotEnforced, trustKitSwizzling, trustKitUnreadable, trustKitDiffers,
    ]
    static let ofLists = [listMissing, listUnverified, listExpired, listExpiring, listOld]
    static let ofAndroid = [
        androidCleartext, androidUserAnchors, androidOverridePins, androidExpired, androidOnePin, androidDiffers,
        androidTrustsAll, androidNamesUnchecked, androidWebViewErrors, androidClient, androidWebView,
    ]

    static let pinInSource = AuditRule(
        "pin-in-source", .warning, "A pin stands in the code: it changes only with a release of the app.",
        "Move it to a pin list, or write down how it is replaced before its key is.")
    static let pinNotInList = AuditRule(
        "pin-not-in-list", .error, "A pin in the app is not in the pin list: the two refuse each other's keys.",
        "Put it into the list, or remove it from the app.")
    static let pinOfRawKey = AuditRule(
        "pin-of-raw-key", .error,
        "The pin is the hash of a key without its SubjectPublicKeyInfo header: no standard client matches it.",
        "Hash the SubjectPublicKeyInfo (tumbler pin CERTIFICATE).")
    static let certificate = AuditRule(
        "certificate-in-app", .note,
        "A certificate stands in the app. If it is pinned, it changes only with a release.",
        "Pin its public key by a list, or write down when it is replaced.")
    static let certificateExpired = AuditRule(
        "certificate-expired", .error,
        "A certificate in the app has expired: what is pinned to it refuses every connection.",
        "Replace it, and release before the others in use expire.")
    static let certificateExpiring = AuditRule(
        "certificate-expiring", .warning, "A certificate in the app expires within 60 days.",
        "Release a replacement early: people update late.")
    static let trustKitExpired = AuditRule(
        "trustkit-expired", .error,
        "TrustKit stops pinning a host at kTSKExpirationDate, in silence, and that day has come.",
        "Remove the date, or move it with each release.")
    static let trustKitOnePin = AuditRule(
        "trustkit-no-backup", .error,
        "A host has fewer than two pins: TrustKit ends the app, and a lost key would lock all users out.",
        "Add the pin of a second key that is kept elsewhere.")
    static let trustKitNotEnforced = AuditRule(
        "trustkit-not-enforced", .error, "kTSKEnforcePinning is off: TrustKit reports, and refuses nothing.",
        "Turn it on when reports are quiet.")
    static let trustKitSwizzling = AuditRule(
        "trustkit-swizzling", .note,
        "TrustKit replaces delegates at run time: sessions without a delegate, and web views, are not reached.",
        "Call TSKPinningValidator in the delegates, where it is seen.")
    static let trustKitUnreadable = AuditRule(
        "trustkit-unreadable", .error, "TrustKit would not read this configuration as was intended.",
        "Correct it: the message says what.")
    static let trustKitDiffers = AuditRule(
        "trustkit-pins-differ", .error,
        "TrustKit's configuration and the pin list expect different keys of a host: one of them refuses what the other takes.",
        "Make them say the same (tumbler convert), or keep one of them alone.")

    static let listMissing = AuditRule(
        "list-missing", .warning,
        "A target has no pin list in it: Pinning cannot be made there, and an app that goes on without it is not pinned.",
        "Put the root and the list into every target that connects, extensions included.")
    static let listUnverified = AuditRule(
        "list-unverified", .error, "The embedded list does not verify under the roots beside it: the app refuses it.",
        "Embed the list that tumbler sign wrote, with the root that it verifies under (tumbler verify).")
    static let listExpired = AuditRule(
        "list-expired", .error, "The embedded list has expired: it is stale from the first start on.",
        "Embed the newest list at each release build.")
    static let listExpiring = AuditRule(
        "list-expiring", .warning,
        "The embedded list expires within 30 days: it may be stale when the app is installed.",
        "Embed the newest list at each release build.")
    static let listOld = AuditRule(
        "list-age", .note, "The embedded list, how old it is and how long it lasts.",
        "Embed the newest list at each release build.")

    static let androidCleartext = AuditRule(
        "android-cleartext", .error, "Cleartext is permitted: an attacker on the network path reads and changes it.",
        "Set cleartextTrafficPermitted to false.")
    static let androidUserAnchors = AuditRule(
        "android-user-anchors", .error, "Certificates that were installed by the user are trusted in release builds.",
        "Move <certificates src=\"user\"/> into debug-overrides.")
    static let androidOverridePins = AuditRule(
        "android-override-pins", .error, "An anchor with overridePins is exempt from all pins.",
        "Remove overridePins outside of debug-overrides.")
    static let androidExpired = AuditRule(
        "android-pins-expired", .error, "The pin-set has expired: Android stops pinning the host, in silence.",
        "Remove the date, or move it with each release.")
    static let androidOnePin = AuditRule(
        "android-no-backup", .warning, "A pin-set has one pin: when its key is lost, all users are locked out.",
        "Add the pin of a second key that is kept elsewhere.")
    static let androidDiffers = AuditRule(
        "android-pins-differ", .error, "The pin-set and the pin list expect different keys of a host.",
        "Make them say the same (tumbler convert).")
    static let androidTrustsAll = AuditRule(
        "android-trusts-all", .error, "A TrustManager whose checkServerTrusted does nothing takes every certificate.",
        "Remove it. For a private CA use a network security configuration.")
    static let androidNamesUnchecked = AuditRule(
        "android-host-name-unchecked", .error,
        "A HostnameVerifier that says yes to every name: any certificate of any site is taken.",
        "Remove it: the platform's verifier is right.")
    static let androidWebViewErrors = AuditRule(
        "android-webview-proceeds", .error,
        "onReceivedSslError goes on with proceed(): the web view takes every certificate.",
        "Call cancel(), or do not override it.")
    static let androidClient = AuditRule(
        "surface-android-client", .warning,
        "A client without a CertificatePinner: only a network security configuration can pin it.",
        "Set certificatePinner, or pin in network_security_config.xml.")
    static let androidWebView = AuditRule(
        "surface-android-webview", .note, "A WebView can be pinned by the network security configuration alone.",
        "Make sure that its hosts are listed there.")
}
