// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What scripts/bench-connections and scripts/bench-attest count under valgrind: a client, whose server is another of
/// these, and verifications of App Attest.
///
///     tumbler-bench-client serve p256|rsa2048 http1|http2|logged FOLDER
///     tumbler-bench-client fetch plain|configured|pinned|evaluated fresh|first|kept COUNT PORT FOLDER
///     tumbler-bench-client attest checks|verified attestation|assertion COUNT
@main
enum Main {
    /// The error of a line of arguments that is incomplete.
    struct Usage: Error {}

    static func main() async throws {
        var arguments = CommandLine.arguments.dropFirst()
        switch arguments.popFirst() {
        case "serve": try await Serving(&arguments).run()
        case "fetch": try await Fetching(&arguments).run()
        case "attest": try await Attesting(&arguments).run()
        default: throw Usage()
        }
    }
}
