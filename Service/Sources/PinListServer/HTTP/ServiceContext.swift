// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
internal import Hummingbird
internal import NIOCore

/// What is known of a request besides the request.
struct ServiceContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// Who is at the other end of the connection; `nil` where that is no IP address.
    let peer: IPAddress?

    init(source: ApplicationRequestContextSource) {
        self.coreContext = CoreRequestContextStorage(source: source)
        self.peer = source.channel.peerAddress
    }
}

extension Channel {
    /// Who is at the other end; `nil` where that is no IP address.
    var peerAddress: IPAddress? { self.remoteAddress?.ipAddress.flatMap { IPAddress(text: $0) } }
}
