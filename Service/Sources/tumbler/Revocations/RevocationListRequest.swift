// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import PathValidation

/// Asks what issuers took back, by the revocation lists that are given and those that certificates name.
struct RevocationListRequest: Sendable {
    /// The most addresses of certificates that are asked.
    static let maximumAddresses = 256
    /// The most bytes of all lists together.
    static let maximumBytes = 256 << 20
    /// How many lists are fetched at once.
    private static let atOnce = 4

    /// What was found.
    struct Outcome: Sendable {
        /// Of each certificate, in their order.
        var findings: [IssuedCertificate: RevocationFinding] = [:]
        /// Lists that were given and could not be had, each a line.
        var troubles: [String] = []
        /// How many lists were read.
        var count = 0
    }

    /// Files and addresses of lists, as they were given.
    let given: [String]
    /// When the lists must be in force.
    let time: Timestamp

    /// Asks.
    ///
    /// - Parameter asked: The certificates.
    /// - Throws: ``CommandError`` when a file that was given cannot be read, or is no list.
    func ask(_ asked: AskedCertificates) async throws(CommandError) -> Outcome {
        var outcome = Outcome()
        let files = self.given.filter { !$0.contains("://") }
        let addresses = self.given.filter { $0.contains("://") }
        var lists = try RevocationListFile.read(files)
        var named: [String] = []
        var addressesOf: [IssuedCertificate: [String]] = [:]
        for certificate in asked.certificates {
            // What cannot be read is said where its status is asked.
            let names = ((try? RevocationLists.addresses(of: certificate.certificate)) ?? []).filter {
                FetchAddress($0) != nil
            }
            addressesOf[certificate] = names
            named += names
        }
        var seen = Set(addresses)
        named = named.filter { seen.insert($0).inserted }
        var troubles: [String: String] = [:]
        for address in named.dropFirst(Self.maximumAddresses) {
            troubles[address] = "over \(Self.maximumAddresses) addresses are not asked"
        }
        let wanted = addresses.map { ($0, true) } + named.prefix(Self.maximumAddresses).map { ($0, false) }
        var room = Self.maximumBytes
        for batch in stride(from: 0, to: wanted.count, by: Self.atOnce).map({ wanted[$0...].prefix(Self.atOnce) }) {
            for (address, result) in await Self.fetch(Array(batch)) {
                do throws(RevocationListDownload.Trouble) {
                    let bytes = try result.get()
                    guard bytes.count <= room else {
                        throw .init("over \(Self.maximumBytes >> 20) MiB of lists are not read")
                    }
                    do throws(InputError) { lists = try lists.adding([bytes]) } catch { throw .init("\(error)") }
                    room -= bytes.count
                } catch {
                    troubles[address] = error.reason
                }
            }
        }
        outcome.troubles = addresses.compactMap { address in troubles[address].map { "\(address): \($0)" } }
        outcome.count = lists.count
        for certificate in asked.certificates {
            let names = addressesOf[certificate] ?? []
            outcome.findings[certificate] = await RevocationFinding(
                certificate, of: asked.owners[certificate] ?? [], by: lists, at: self.time,
                named: names.map { ($0, troubles[$0]) })
        }
        return outcome
    }

    private static func fetch(
        _ addresses: [(String, Bool)]
    ) async -> [(String, Result<[UInt8], RevocationListDownload.Trouble>)] {
        await withTaskGroup(of: (Int, Result<[UInt8], RevocationListDownload.Trouble>).self) { group in
            for (number, (address, isGiven)) in addresses.enumerated() {
                group.addTask {
                    do throws(RevocationListDownload.Trouble) {
                        return (
                            number, .success(try await RevocationListDownload().bytes(at: address, isGiven: isGiven))
                        )
                    } catch {
                        return (number, .failure(error))
                    }
                }
            }
            var answers: [Int: Result<[UInt8], RevocationListDownload.Trouble>] = [:]
            for await (number, answer) in group { answers[number] = answer }
            return addresses.enumerated().compactMap { number, address in answers[number].map { (address.0, $0) } }
        }
    }
}
