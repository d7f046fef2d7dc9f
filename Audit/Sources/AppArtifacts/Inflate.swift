// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// A decoder of deflated bytes (RFC 1951), bounded by the length that the archive states.
///
/// Our own: the zlib of the system is not on every machine with a header, and a bound has to hold while it decodes.
struct Inflate {
    private let input: ByteField
    private var position = 0
    private var bits: UInt32 = 0
    private var bitCount = 0
    private var output: [UInt8] = []
    private let limit: Int

    /// Decodes.
    ///
    /// - Parameters:
    ///   - input: The deflated bytes.
    ///   - limit: The maximum number of inflated bytes; one more is a refusal.
    /// - Throws: ``ArtifactError``.
    static func decode(_ input: ByteField, maximum limit: Int) throws(ArtifactError) -> [UInt8] {
        var decoder = Inflate(input: input, limit: limit)
        return try decoder.run()
    }

    private init(input: ByteField, limit: Int) {
        self.input = input
        self.limit = limit
        self.output.reserveCapacity(min(limit, 1 << 20))
    }

    private static let damaged = ArtifactError(.malformed, "the deflated bytes are damaged")

    private mutating func run() throws(ArtifactError) -> [UInt8] {
        var isLast = false
        while !isLast {
            isLast = try self.take(1) == 1
            switch try self.take(2) {
            case 0: try self.stored()
            case 1: try self.compressed(Self.fixedLiterals, Self.fixedDistances)
            case 2:
                let (literals, distances) = try self.tables()
                try self.compressed(literals, distances)
            default: throw Self.damaged
            }
        }
        return self.output
    }

    private mutating func take(_ count: Int) throws(ArtifactError) -> Int {
        while self.bitCount < count {
            guard self.position < self.input.count else {
                throw ArtifactError(.truncated, "the deflated bytes are cut")
            }
            self.bits |= UInt32(self.input.bytes[self.input.bytes.startIndex + self.position]) << UInt32(self.bitCount)
            self.position += 1
            self.bitCount += 8
        }
        let value = Int(self.bits & ((1 << UInt32(count)) - 1))
        self.bits >>= UInt32(count)
        self.bitCount -= count
        return value
    }

    private mutating func put(_ byte: UInt8) throws(ArtifactError) {
        guard self.output.count < self.limit else {
            throw ArtifactError(.tooLarge, "it inflates to more than it states")
        }
        self.output.append(byte)
    }

    private mutating func stored() throws(ArtifactError) {
        self.bits = 0
        self.bitCount = 0
        guard let length = self.input.place(self.position, 2),
            let bytes = self.input.part(self.position + 4, length)
        else { throw ArtifactError(.truncated, "a stored block is cut") }
        guard length <= self.limit - self.output.count else {
            throw ArtifactError(.tooLarge, "it inflates to more than it states")
        }
        self.output += bytes.bytes
        self.position += 4 + length
    }

    /// Codes by length, as RFC 1951 (3.2.2) makes them.
    struct Codes {
        /// The number of codes of each length.
        var counts = [Int](repeating: 0, count: 16)
        /// The symbols, sorted by length and then by value.
        var symbols: [Int]

        init(lengths: [Int]) {
            self.symbols = [Int](repeating: 0, count: lengths.count)
            for length in lengths { self.counts[length] += 1 }
            self.counts[0] = 0
            var starts = [Int](repeating: 0, count: 17)
            for length in 1...15 { starts[length + 1] = starts[length] + self.counts[length] }
            for (symbol, length) in lengths.enumerated() where length > 0 {
                self.symbols[starts[length]] = symbol
                starts[length] += 1
            }
        }
    }

    private mutating func symbol(_ codes: Codes) throws(ArtifactError) -> Int {
        var code = 0
        var first = 0
        var index = 0
        for length in 1...15 {
            code |= try self.take(1)
            let count = codes.counts[length]
            if code - first < count {
                guard code >= first else { throw Self.damaged }
                return codes.symbols[index + code - first]
            }
            index += count
            first = (first + count) << 1
            code <<= 1
        }
        throw Self.damaged
    }

    private mutating func compressed(_ literals: Codes, _ distances: Codes) throws(ArtifactError) {
        while true {
            let symbol = try self.symbol(literals)
            if symbol < 256 {
                try self.put(UInt8(symbol))
                continue
            }
            guard symbol != 256 else { return }
            guard symbol - 257 < Self.lengthBases.count else { throw Self.damaged }
            let length = Self.lengthBases[symbol - 257] + (try self.take(Self.lengthBits[symbol - 257]))
            let code = try self.symbol(distances)
            guard code < Self.distanceBases.count else { throw Self.damaged }
            let distance = Self.distanceBases[code] + (try self.take(Self.distanceBits[code]))
            guard distance <= self.output.count else { throw Self.damaged }
            for _ in 0..<length { try self.put(self.output[self.output.count - distance]) }
        }
    }

    private mutating func tables() throws(ArtifactError) -> (Codes, Codes) {
        let literals = try self.take(5) + 257
        let distances = try self.take(5) + 1
        let count = try self.take(4) + 4
        guard literals <= 286, distances <= 30 else { throw Self.damaged }
        var lengths = [Int](repeating: 0, count: 19)
        for index in 0..<count { lengths[Self.order[index]] = try self.take(3) }
        let codes = Codes(lengths: lengths)
        var all: [Int] = []
        while all.count < literals + distances {
            let symbol = try self.symbol(codes)
            switch symbol {
            case 0...15: all.append(symbol)
            case 16:
                guard let last = all.last else { throw Self.damaged }
                all += [Int](repeating: last, count: try self.take(2) + 3)
            case 17: all += [Int](repeating: 0, count: try self.take(3) + 3)
            default: all += [Int](repeating: 0, count: try self.take(7) + 11)
            }
        }
        guard all.count == literals + distances else { throw Self.damaged }
        return (Codes(lengths: Array(all[..<literals])), Codes(lengths: Array(all[literals...])))
    }

    private static let order = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    private static let lengthBases = [
        3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227,
        258,
    ]
    private static let lengthBits = [
        0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
    ]
    private static let distanceBases = [
        1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1_025, 1_537, 2_049, 3_073,
        4_097, 6_145, 8_193, 12_289, 16_385, 24_577,
    ]
    private static let distanceBits = [
        0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
    ]
    private static let fixedLiterals = Codes(
        lengths: [Int](repeating: 8, count: 144) + [Int](repeating: 9, count: 112) + [Int](repeating: 7, count: 24)
            + [Int](repeating: 8, count: 8))
    private static let fixedDistances = Codes(lengths: [Int](repeating: 5, count: 30))
}
