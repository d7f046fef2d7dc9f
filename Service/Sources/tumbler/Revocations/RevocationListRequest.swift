// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import CommandLineInterface
import PathValidation

/// Asks what issuers revoked, by the revocation lists that are given and those that certificates name.
struct RevocationListRequest: Sendable {
    /// The maximum number of bytes of all lists together (formats.md, section 8).
    static let maximumBytes = 256 << 20

    /// The outcome of asking.
    struct Outcome: Sendable {
        /// Of each certificate, in their order.
        var findings: [IssuedCertificate: RevocationFinding] = [:]
        /// Lists that were given and could not be had, each a line.
        var troubles: [String] = []
        /// The number of lists that were read.
        var count = 0
    }

    /// Files and addresses of lists, as they were given.
    let given: [String]
    /// The time at which the lists must be in force.
    let time: Timestamp
    /// The connections that are used.
    let connections: Connections

    /// Asks.
    ///
    /// - Parameter asked: The certificates.
    /// - Throws: ``CommandError`` when a file that was given cannot be read, or is no list.
    func ask(_ asked: AskedCertificates) async throws(CommandError) -> Outcome {
        var outcome = Outcome()
        let files = self.given.filter { !$0.contains("://") }
        let addresses = self.given.filter { $0.contains("://") }
        var lists = try RevocationListFile.read(files)
        var sources = RevocationListSources()
        for address in addresses { sources.add(address, isGiven: true) }
        var addressesOf: [IssuedCertificate: [String]] = [:]
        for certificate in asked.certificates {
            // What cannot be read is said where its status is asked.
            let names = ((try? RevocationLists.addresses(of: certificate.certificate)) ?? []).filter {
                FetchAddress($0) != nil
            }
            addressesOf[certificate] = names
            for name in names { sources.add(name, isGiven: false) }
        }
        let download = RevocationListDownload(connections: self.connections)
        var room = Self.maximumBytes
        while case let batch = sources.next(), !batch.isEmpty {
            for (source, result) in await Self.fetch(batch, by: download) {
                do throws(RevocationListDownload.DownloadError) {
                    let bytes = try result.get()
                    guard bytes.count <= room else {
                        throw .init("over \(Self.maximumBytes >> 20) MiB of lists are not read")
                    }
                    do throws(InputError) { lists = try lists.adding([bytes]) } catch { throw .init("\(error)") }
                    room -= bytes.count
                } catch {
                    sources.note(error, of: source)
                }
            }
        }
        outcome.troubles = addresses.enumerated().compactMap { number, address in
            // What is no address is not repeated: a password may be in it.
            let name = FetchAddress(address) == nil ? "address \(number + 1) of --crl" : address
            return sources.trouble(of: address).map { "\(name): \($0)" }
        }
        outcome.count = lists.count
        for certificate in asked.certificates {
            let names = addressesOf[certificate] ?? []
            outcome.findings[certificate] = await RevocationFinding(
                certificate, of: asked.owners[certificate] ?? [], by: lists, at: self.time,
                named: names.map { ($0, sources.trouble(of: $0)) })
        }
        return outcome
    }

    private static func fetch(
        _ sources: [RevocationListSources.Source], by download: RevocationListDownload
    ) async -> [(RevocationListSources.Source, Result<[UInt8], RevocationListDownload.DownloadError>)] {
        await withTaskGroup(of: (Int, Result<[UInt8], RevocationListDownload.DownloadError>).self) { group in
            for (number, source) in sources.enumerated() {
                group.addTask {
                    do throws(RevocationListDownload.DownloadError) {
                        return (number, .success(try await download.bytes(at: source.text, isGiven: source.isGiven)))
                    } catch {
                        return (number, .failure(error))
                    }
                }
            }
            var answers: [Int: Result<[UInt8], RevocationListDownload.DownloadError>] = [:]
            for await (number, answer) in group { answers[number] = answer }
            return sources.enumerated().compactMap { number, source in answers[number].map { (source, $0) } }
        }
    }
}
