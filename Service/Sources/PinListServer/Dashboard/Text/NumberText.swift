// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinReportAnalysis

/// Numbers as people read them, in English and without a locale: the same page on each machine.
enum NumberText {
    /// `12,345`.
    static func count(_ number: Int) -> String {
        let digits = String(number.magnitude)
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0 && (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digit)
        }
        return number < 0 ? "−" + text : text
    }

    /// `1 report`, `2 reports`.
    static func count(_ number: Int, _ one: String, _ many: String) -> String {
        "\(self.count(number)) \(number == 1 ? one : many)"
    }

    /// A share from 0 to 1 in percent with one decimal, never rounded up to 100 or down to 0: `99.9 %`.
    static func percent(_ share: Double) -> String {
        guard share.isFinite else { return "–" }
        if share >= 1 { return "100 %" }
        if share <= 0 { return "0 %" }
        if share > 0.999 { return "99.9 %" }
        if share < 0.001 { return "< 0.1 %" }
        return "\(self.decimal(share * 100, places: 1)) %"
    }

    /// A number with at most so many decimals: `0.5`, `12`, `2.25`.
    ///
    /// - Parameters:
    ///   - number: The number; a non-finite one is written `0`, one over 10^15 without decimals.
    ///   - places: The most decimals, at most 6.
    static func decimal(_ number: Double, places: Int) -> String {
        guard number.isFinite else { return "0" }
        let places = min(max(places, 0), 6)
        let factor = (0..<places).reduce(Int64(1)) { product, _ in product * 10 }
        guard number.magnitude < 1e12 else {
            return String(number.rounded()).replacingSuffix(".0")
        }
        let scaled = Int64(exactly: (number.magnitude * Double(factor)).rounded()) ?? .max
        let whole = scaled / factor
        var fraction = String(scaled % factor)
        fraction = String(repeating: "0", count: max(0, places - fraction.count)) + fraction
        while fraction.last == "0" { fraction.removeLast() }
        let sign = number < 0 && scaled > 0 ? "-" : ""
        return sign + String(whole) + (fraction.isEmpty || places == 0 ? "" : "." + fraction)
    }

    /// For an axis: `0`, `950`, `1.5 k`, `2 M`.
    static func short(_ number: Double) -> String {
        for (limit, unit) in [(1e12, " T"), (1e9, " G"), (1e6, " M"), (1e3, " k")] where number >= limit {
            return self.decimal(number / limit, places: 1) + unit
        }
        return self.decimal(number, places: 2)
    }
}

extension String {
    fileprivate func replacingSuffix(_ suffix: String) -> String {
        self.hasSuffix(suffix) ? String(self.dropLast(suffix.count)) : self
    }
}

extension ReportRate {
    /// The caption on the factors of a chart; empty where all installations reported.
    static func caption(_ factors: Set<Double>) -> String {
        guard let maximum = factors.max(), maximum > 1 else { return "" }
        let number = NumberText.decimal(maximum, places: 1)
        return factors.count == 1
            ? "Multiplied by \(number), for one in \(number) installations reports."
            : "Multiplied by up to \(number), for as few as one in \(number) installations reports."
    }

    /// The share of installations that report, in words; empty where all do.
    static func words(_ perMillion: Int64) -> String {
        guard perMillion < Self.all, perMillion > 0 else { return "" }
        return "one in \(NumberText.decimal(Double(Self.all) / Double(perMillion), places: 1)) installations reports"
    }
}
