// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
public import CertificatePinning

/// A redirect that was not followed: a host of the world redirected to this machine, or into a network that the world
/// does not reach. ``PinnedHTTPClient/Options/allowsLocalRedirects`` lets it.
public struct LocalRedirectError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The host that redirected.
    public let host: String
    /// Where it redirected to, a host without a port.
    public let target: String

    /// What is wrong with a redirect; `nil` when it stays in the world, or began where it leads to.
    @_spi(Tools) public init?(from host: HostName, to target: HostName) {
        guard !host.isLocal, target.isLocal else { return nil }
        self.host = host.description
        self.target = target.description
    }

    /// What happened, in one sentence.
    public var description: String { "\(self.host) redirects to \(self.target), which is a local or private address" }
}
#endif
