// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What the demonstration asks for, read from one line.
enum PopulationCommand: Hashable, Sendable {
    /// The first of the clients ask for a newer list; all of them without a number.
    case refresh(first: Int?)
    /// All get their page from a port; the first of them are led to another port.
    case fetch(port: Int, intercepted: Int, interceptor: Int)
    /// Waits until so many reports were answered since the beginning.
    case reports(Int)

    /// Reads a line.
    ///
    /// - Returns: `nil` for one that is no command.
    init?(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        let numbers = words.dropFirst().compactMap { Int($0) }
        guard let name = words.first, numbers.count == words.count - 1, numbers.allSatisfy({ $0 >= 0 }) else {
            return nil
        }
        switch (name, numbers.count) {
        case ("refresh", 0): self = .refresh(first: nil)
        case ("refresh", 1): self = .refresh(first: numbers[0])
        case ("fetch", 1): self = .fetch(port: numbers[0], intercepted: 0, interceptor: numbers[0])
        case ("fetch", 3): self = .fetch(port: numbers[0], intercepted: numbers[1], interceptor: numbers[2])
        case ("reports", 1): self = .reports(numbers[0])
        default: return nil
        }
    }
}
