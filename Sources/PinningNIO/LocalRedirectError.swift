// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
/// A redirect that was not followed: a host of the world redirected to this machine, or into a network that the world
/// does not reach. ``PinnedHTTPClient/Options/allowsLocalRedirects`` lets it.
public struct LocalRedirectError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The host that redirected.
    public let host: String
    /// Where it redirected to, a host without a port.
    public let target: String

    /// What happened, in one sentence.
    public var description: String { "\(self.host) redirects to \(self.target), which is a local or private address" }
}
#endif
