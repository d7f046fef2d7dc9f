// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What was seen at one of the addresses that a host has.
public struct AddressObservation: Hashable, Sendable {
    /// The address and its port, such as `192.0.2.7:443` or `[2001:db8::7]:443`; `nil` when the host has none that is
    /// known.
    public let address: String?
    /// How it was found.
    public let observation: ProbeObservation
    /// Whether it could not be asked because this machine has no route to it: it speaks no IPv6, say. That says nothing
    /// of the server.
    public let hasNoRoute: Bool

    /// States an observation.
    public init(address: String?, _ observation: ProbeObservation, hasNoRoute: Bool = false) {
        self.address = address
        self.observation = observation
        self.hasNoRoute = hasNoRoute
    }
}
