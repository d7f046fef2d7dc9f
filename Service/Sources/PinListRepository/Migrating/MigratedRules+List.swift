// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import CertificatePinning
public import PinListMetadata
@_spi(Tools) public import PinningMigration

extension MigratedRules {
    /// All that a list says, for writing it in another tool's form.
    @_spi(Tools) public init(_ list: PinList) {
        self.init(
            domains: list.domains.map { domain in
                var entry = domain.entry
                entry.isInRollout = domain.rollout >= 100
                return entry
            }, denied: list.denied, suspended: list.suspended, unlisted: list.unlisted, reportTo: list.reportTo)
        self.unusablePins = list.unusablePinCount
    }

    /// All that a source says.
    @_spi(Tools) public init(_ source: ListSource) {
        self.init(
            domains: source.domains.map { domain in
                var entry = domain.domain.entry
                entry.isInRollout = domain.domain.rollout >= 100
                return entry
            }, denied: source.denied.map(\.value), suspended: source.suspended.map(\.value),
            unlisted: source.unlisted, reportTo: source.reportTo)
    }
}
