// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import PinRotation

extension AdoptionForecast {
    private static let model = "gamma-poisson"

    /// Reads `opened` of a source: `{model: gamma-poisson, shape: 0.65, scale: 2.6d}`.
    init(_ value: YAMLValue) throws(RepositoryError) {
        let object = try SourceObject(value, "opened", known: ["model", "shape", "scale"])
        if let model = try object.text("model"), model.value != Self.model {
            throw model.position.error(
                "a rotation cannot be foretold by this model", hint: "write model: \(Self.model), with shape and scale")
        }
        guard let shape = try object.text("shape") else { throw object.missing("shape", "shape: 0.65") }
        guard let scale = try object.text("scale") else { throw object.missing("scale", "scale: 2.6d") }
        let unit: Double? =
            switch scale.value.last {
            case "d": 86_400
            case "h": 3_600
            case "m": 60
            case "s": 1
            default: nil
            }
        guard let unit, let number = Self.decimal(scale.value.dropLast()) else {
            throw scale.position.error("scale is not a length of time", hint: "write a number and s, m, h or d: 2.6d")
        }
        guard let shape = Self.decimal(shape.value[...]),
            let forecast = AdoptionForecast(shape: shape, scale: number * unit)
        else {
            throw object.position.error(
                "shape is not a number from 0.001 to 1000, or scale is under a second or over 30,000 years",
                hint: "write {model: \(Self.model), shape: 0.65, scale: 2.6d}")
        }
        self = forecast
    }

    /// A number of decimal digits with at most one point, nothing else.
    private static func decimal(_ text: Substring) -> Double? {
        guard (1...16).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }),
            text.utf8.first != 0x2E, text.utf8.last != 0x2E
        else { return nil }
        return Double(String(text))
    }
}
