// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// `--connect-to`: where servers are asked in place of their own addresses.
struct ConnectToOptions: ParsableArguments {
    @Option(
        name: .customLong("connect-to"),
        help: ArgumentHelp(
            "Ask HOST:PORT at another place; may be given several times.", valueName: "host:port:host2:port2"),
        transform: ConnectTo.init)
    var places: [ConnectTo] = []
}
