// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Logging
import PinListClient
import PinningURLSession
import Testing
import os

@Suite("The system's log")
struct SystemLogTests {
    @Test("has what swift-log was told, with its metadata, at its level, readable in the field")
    func hasWhatSwiftLogWasToldWithItsMetadataAtItsLevelReadableInTheField() {
        let subsystem = "log-\(UUID().uuidString)"
        var logger = Logging.Logger(label: "test") { _ in OSLogHandler(subsystem: subsystem, category: "pins") }
        logger[metadataKey: "app"] = "bank"
        logger.debug("not shown")
        logger.info("version 7 is in force", metadata: ["event": "list-accepted"])
        logger.warning("refused")
        logger.critical("NOTHING IS PINNED")
        let entries = SimulatedLog.entries(subsystem: subsystem)
        #expect(
            entries.map(\.text) == [
                "version 7 is in force app=bank event=list-accepted", "refused app=bank", "NOTHING IS PINNED app=bank",
            ])
        #expect(entries.map(\.level) == [.info, .default, .fault])
        #expect(entries.allSatisfy { $0.isPublic && $0.category == "pins" })
    }

    @Test("is where the events of a client go that was not configured")
    func isWhereTheEventsOfAClientGoThatWasNotConfigured() {
        #expect(PinningConfiguration.urlSession.logger != nil)
        #expect(PinningConfiguration.urlSession.versionMark is KeychainVersionMark)
    }
}
