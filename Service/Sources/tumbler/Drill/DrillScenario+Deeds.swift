// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Foundation
import PinListRepository

extension DrillScenario {
    /// The steps of the runbooks, in their order, for `--auto`.
    func deeds(on stage: DrillStage, _ broken: DrillBreak) -> [DrillDeed] {
        let (project, host) = (stage.project.folder.path, stage.source.host.description)
        let here = ["-C", project]
        let suspend = DrillDeed.command(["suspend", host, "--for", "2h", "--reason", "drill"] + here)
        let resume = DrillDeed.command(["resume", host] + here)
        switch self {
        case .lostKey:
            let known = stage.pinLines.joined(separator: "\n")
            let new = DrillStage.line(KnownPin(stage.server.pin, note: "made in a hurry"))
            return [
                .noticed, suspend, .command(stage.releaseWords()), .cause(self.cause),
                .edit(
                    "the pin of the new key added", file: stage.project.source.path, replacing: known,
                    with: "\(known)\n\(new)"),
                resume, .command(stage.releaseWords()),
            ]
        case .strangeCA: return [.noticed, .cause(self.cause)]
        case .wrongList:
            return [
                .noticed, suspend, .command(stage.releaseWords()), .cause(self.cause),
                .edit(
                    "the pins of the list before put back", file: stage.project.source.path,
                    replacing: broken.wrongLines.joined(separator: "\n"),
                    with: stage.pinLines.joined(separator: "\n")),
                resume, .command(stage.releaseWords(allowing: ["propagation"])),
            ]
        case .stolenPinsKey: return self.replacingKey(on: stage, broken)
        }
    }

    /// docs/operations/stolen-pins-key.md. Its waits are for caches; the service of a drill has none in front of it.
    private func replacingKey(on stage: DrillStage, _ broken: DrillBreak) -> [DrillDeed] {
        let folder = stage.project.folder
        func file(_ name: String) -> String { folder.appendingPathComponent(name).path }
        let here = ["-C", folder.path]
        let publish = ["publish"]
        let token = ["--token-file", stage.service.tokenFile.path] + here
        let list = "\(stage.service.address)/v1/lists/\(stage.source.name)"
        let rootKey = ["--key", file(NewProject.rootKeyName), "--yes"]
        let newKey = ["--key", file("keys/new.pem"), "--yes"]
        let payload = file("root.payload")
        let stolen = broken.stolenKey ?? ""
        return [
            .noticed, .cause(self.cause),
            .command(["key", "new", file("keys/new.pem"), "--insecure-plaintext"]),
            .command(["root", "rotate", "--add", "pins=\(file("keys/new.pem.pub"))", "-o", payload] + here),
            .command(["sign", payload] + rootKey + ["-o", file("root/2.json")] + here),
            .command(["root", "rotate", "--remove", "pins=\(stolen)", "-o", payload] + here),
            .command(
                ["sign", payload, "--root", file("root/2.json")] + rootKey + ["-o", file("next-root.json")] + here),
            .command(publish + [file("root/2.json")] + token),
            // The list of the thief is the published one: the next version comes after it, and all its pins go.
            .command(
                ["build", "-o", file("list.payload"), "--published", list, "--allow", "propagation"]
                    + stage.allowed.flatMap { ["--allow", $0] } + here),
            .command(
                ["sign", file("list.payload"), "--root", file("root/2.json"), "--root", file("next-root.json")]
                    + newKey + ["-o", file("pins.json")] + here),
            .command(publish + token),
            .move(file("next-root.json"), to: file("root/3.json")),
            .command(publish + token),
            .edit(
                "the signer is the new key", file: stage.project.source.path,
                replacing: "file:\(NewProject.pinsKeyName)", with: "file:keys/new.pem"),
        ]
    }
}

/// A step that is taken in a drill without a person: what one would type.
enum DrillDeed: Sendable {
    /// Says that something is wrong.
    case noticed
    /// Names a cause.
    case cause(DrillCause)
    /// Runs `tumbler` with these words; paths are absolute.
    case command([String])
    /// Edits a file: what is done to it in words, its path, the text that goes and the one that comes.
    case edit(String, file: String, replacing: String, with: String)
    /// Gives a file another name.
    case move(String, to: String)
}
