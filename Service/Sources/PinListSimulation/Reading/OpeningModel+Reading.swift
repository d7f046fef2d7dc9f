// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

package import PinListRepository

extension OpeningModel {
    private static let models = ["gamma-poisson", "daily", "trace"]

    /// Reads `opened:` of a scenario, or of another file that has it.
    ///
    /// - Parameters:
    ///   - value: The value to read.
    ///   - file: The name of the file; a trace is beside it.
    ///   - files: The reader of a trace.
    /// - Throws: `RepositoryError` with the place.
    package init(_ value: YAMLValue, file: String, files: some SourceFiles) throws(RepositoryError) {
        let object = try SourceObject(value, "opened", known: ["model", "shape", "scale", "share", "file"])
        let model = try object.oneOf(
            "model", Dictionary(uniqueKeysWithValues: Self.models.map { ($0, $0) }), default: Self.models[0])
        let known = model == "daily" ? ["share"] : model == "trace" ? ["file"] : ["shape", "scale"]
        let strange = object.present(among: ["shape", "scale", "share", "file"]).filter { !known.contains($0) }
        if let name = strange.first {
            throw object.position(of: name).error(
                "the model \(model) has no member \(name)", hint: "it has \(known.joined(separator: " and "))")
        }
        switch model {
        case "daily":
            self = .daily(
                share: try object.needed("share", "share: 0.2", try object.decimal("share", in: 0...1)))
        case "trace":
            guard let name = try object.text("file") else { throw object.missing("file", "file: openings.txt") }
            self = .trace(try Self.trace(name, file: file, files: files))
        default:
            self = .gammaPoisson(
                shape: try object.needed(
                    "shape", "shape: 0.65", try object.decimal("shape", in: ScenarioLimits.shape)),
                scale: try object.needed(
                    "scale", "scale: 2.6d", try object.span("scale", in: ScenarioLimits.scale)))
        }
    }

    private static func trace(
        _ name: Located<String>, file: String, files: some SourceFiles
    ) throws(RepositoryError) -> OpeningTrace {
        let bytes: [UInt8]
        do {
            bytes = try files.bytes(of: SourcePath.beside(file, name.value), limit: OpeningTrace.maximumBytes)
        } catch { throw name.position.error("file: \(error.reason)", hint: error.hint) }
        do { return try OpeningTrace(bytes) } catch {
            throw name.position.error(
                "line \(error.line) of the file: \(error.reason)",
                hint: "write a line for each installation, with whole seconds from the beginning and blanks between")
        }
    }
}
