// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// Counts the bytes of requests in the TLS records of a client, without the keys: all that stands in records of
/// application data, less what the encryption adds. Records of TLS 1.3 that hold the end of the handshake or an alert
/// look the same, and are known by their length (RFC 8446, section 5.2).
///
/// Records of a handshake that follow ChangeCipherSpec are encrypted up to TLS 1.2. In TLS 1.3 one of them is the second
/// ClientHello, after a HelloRetryRequest (RFC 8446, section 4.1.4 and appendix D.4), and is known by how it begins.
struct TLSRecordCount {
    private enum Kind {
        static let changeCipherSpec: UInt8 = 20
        static let handshake: UInt8 = 22
        static let applicationData: UInt8 = 23
    }

    /// Of TLS 1.3: the type of what is inside, and the tag.
    private static let overhead = 17
    /// Of TLS 1.2 with AES-GCM: the nonce and the tag; with ChaCha20-Poly1305 the tag alone, so up to 8 are missing.
    private static let olderOverhead = 24
    /// A Finished with SHA-256, and with SHA-384.
    private static let finished: Set<Int> = [4 + 32 + overhead, 4 + 48 + overhead]
    /// An alert.
    private static let alert = 2 + overhead

    /// The beginning of a ClientHello: its type, its length, its version.
    private static let helloBytes = 6

    private var header: [UInt8] = []
    private var length = 0
    private var rest = 0
    /// The first bytes of a record that is encrypted, or else a second ClientHello; `nil` for any other record.
    private var beginning: [UInt8]?
    /// The bytes of the second ClientHello that are still to come, in further records.
    private var restOfHello = 0
    private var wasChanged = false
    private var isOlder = false
    private var wasFinished = false

    /// Takes what was sent, in pieces of any length.
    ///
    /// - Returns: The number of bytes of requests that began in it.
    mutating func take<Bytes: RandomAccessCollection<UInt8>>(_ bytes: Bytes) -> Int where Bytes.Index == Int {
        var count = 0
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if self.rest > 0, let beginning = self.beginning {
                self.rest -= 1
                self.look(at: beginning + [bytes[index]])
                index += 1
                continue
            }
            if self.rest > 0 {
                let step = min(self.rest, bytes.endIndex - index)
                self.rest -= step
                index += step
                continue
            }
            self.header.append(bytes[index])
            index += 1
            guard self.header.count == 5 else { continue }
            self.length = Int(self.header[3]) << 8 | Int(self.header[4])
            count += self.requestBytes(of: self.header[0], self.length)
            self.rest = self.length
            self.header = []
        }
        return count
    }

    private mutating func requestBytes(of kind: UInt8, _ length: Int) -> Int {
        switch kind {
        case Kind.changeCipherSpec: self.wasChanged = true
        case Kind.handshake where self.restOfHello > 0: self.restOfHello -= min(length, self.restOfHello)
        case Kind.handshake where self.wasChanged && !self.isOlder: self.beginning = []
        case Kind.applicationData where self.isOlder: return max(1, length - Self.olderOverhead)
        case Kind.applicationData:
            if !self.wasFinished, Self.finished.contains(length) {
                self.wasFinished = true
            } else if length != Self.alert {
                return max(0, length - Self.overhead)
            }
        default: break
        }
        return 0
    }

    /// Decides on a record, as soon as enough of it is there.
    private mutating func look(at beginning: [UInt8]) {
        guard beginning.count == Self.helloBytes || self.rest == 0 else {
            self.beginning = beginning
            return
        }
        self.beginning = nil
        // Not even with the longest keys has one over 64 KB.
        let isHello = beginning.count == Self.helloBytes && beginning[..<2] == [1, 0] && beginning[4...] == [3, 3]
        let count = isHello ? 4 + Int(beginning[2]) << 8 + Int(beginning[3]) : 0
        if count >= self.length {
            self.restOfHello = count - self.length
        } else {
            // An encrypted Finished, which TLS 1.3 has in a record of application data.
            self.isOlder = true
        }
    }
}
