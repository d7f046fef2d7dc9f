// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// The status of a service, as tests have it.
enum StatusText {
    /// A status as the service makes it.
    static func status(alarms: String = "", adoption: String = Self.measured) -> String {
        """
        {"time": "2026-11-22T00:00:00Z", "auditHead": "00ffaa", "auditEntries": 12, "names": [{"name": "com.example.app",
         "list": {"version": 7, "digest": "ab", "publishedAt": "2026-11-21T00:00:00Z", "expiresAt": "2027-01-20T00:00:00Z"},
         "root": {"version": 1, "expiresAt": "2029-11-20T00:00:00Z"}, "adoption": \(adoption)}],
         "hosts": [{"host": "api.example.com", "lastHour": 3, "usual": 0.25, "list": "com.example.app"}],
         "groups": [{"host": "api.example.com", "reason": "no-matching-pin", "count": 3, "cause": "corporate proxy"}],
         "alarms": [\(alarms)], "probes": [{"host": "api.example.com", "ok": true, "detail": "pin-match", "at": "2026-11-21T06:00:00Z"}],
         "somethingNew": {"a": [1, 2.5, null]}}
        """
    }

    /// An estimate: 93 in 100 hold version 7.
    static let measured =
        #"{"state": "measured", "share": {"5": 1.0, "6": 0.995, "7": 0.93}, "base": 1234, "window": 43200, "ninetyNine": "2026-11-25T00:00:00Z"}"#
    /// An alarm.
    static let alarm =
        #"{"key": "k", "kind": "expiry", "severity": "page", "since": "2026-11-21T00:00:00Z", "detail": "list 7 expires"}"#
}
