// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning

@testable import ServiceParsers

/// The first bytes of clients to the bench of `tumbler intercept`: as a proxy, and as TLS records.
enum InterceptedBytes: FuzzTarget {
    static let name = "intercepted-bytes"

    static func check(_ bytes: [UInt8]) {
        self.checkRequest(bytes)
        self.checkRecords(bytes)
    }

    private static func checkRequest(_ bytes: [UInt8]) {
        guard let request = ProxyRequest(bytes) else { return }
        precondition((1...65_535).contains(request.port))
        precondition(request.length <= bytes.count && bytes.prefix(request.length).suffix(4) == [13, 10, 13, 10])
        // Bytes behind the head change nothing, and a head that is cut is none.
        let again = ProxyRequest(Array(bytes.prefix(request.length)))
        precondition(again?.host == request.host && again?.port == request.port && again?.length == request.length)
        precondition(ProxyRequest(Array(bytes.prefix(request.length - 1))) == nil)
    }

    private static func checkRecords(_ bytes: [UInt8]) {
        var whole = TLSRecordCount()
        let sum = whole.take(bytes)
        // A record is counted when its head is there: up to 64 KiB may be to come.
        precondition(sum >= 0 && sum <= bytes.count + 65_535)
        let step = max(1, Int(bytes.first ?? 1) % 7)
        var parts = TLSRecordCount()
        var partial = 0
        for start in stride(from: 0, to: bytes.count, by: step) {
            partial += parts.take(bytes[start..<min(start + step, bytes.count)])
        }
        precondition(partial == sum)
    }
}
