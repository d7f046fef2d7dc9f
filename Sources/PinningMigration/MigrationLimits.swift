// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// How much is read of another tool's configuration.
public enum MigrationLimits {
    /// The most hosts, as in a list (formats.md, section 3.2).
    public static let domains = 10_000
    /// The most pins that are kept of a host, as in a list.
    public static let pins = 16
    /// The most bytes of a file.
    public static let bytes = 4 * 1_048_576
    /// The most bytes of a text within it: longer ones are neither pin, host nor address.
    public static let textBytes = 4_096
    /// The most values, or elements: 10,000 hosts with all that can be said of them.
    public static let values = 500_000
    /// How deep they may stand within each other.
    public static let depth = 32
    /// The most warnings; the rest is counted.
    public static let warnings = 1_000
    /// The most certificate files of a bundle.
    public static let files = 1_000
    /// The most bytes of a certificate file.
    public static let fileBytes = 1_048_576
}
