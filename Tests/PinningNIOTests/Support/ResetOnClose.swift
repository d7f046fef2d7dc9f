// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import Foundation
import NIOCore
import NIOPosix

extension Channel {
    /// Makes the next close of this socket a reset. On its event loop.
    func resetOnClose() {
        (self as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0)).whenFailure { _ in }
    }
}
#endif
