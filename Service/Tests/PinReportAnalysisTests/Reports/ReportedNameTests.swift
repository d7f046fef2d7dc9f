// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CertificatePinning
import Testing

@testable import PinReportAnalysis

@Suite("The names of a reported certificate")
struct ReportedNameTests {
    private func names(_ names: [[UInt8]], _ host: String) throws -> Bool? {
        let certificate = SketchedChain.certificate(
            subject: ("Example", "leaf"), issuer: ("Example", "CA"), key: [1], names: names)
        return try #require(ReadableCertificate(certificate)).names(host)
    }

    @Test("a certificate for another host is known as one; a wildcard stands for one whole label")
    func certificateForAnotherHostIsKnownAsOne() throws {
        let dns = SketchedChain.dns
        #expect(try self.names([dns("login.example.com")], "api.example.com") == false)
        #expect(try self.names([dns("login.example.com"), dns("API.example.com.")], "api.Example.com") == true)
        #expect(try self.names([dns("*.example.com")], "api.example.com") == true)
        for other in ["example.com", "a.api.example.com", "badexample.com", "com"] {
            #expect(try self.names([dns("*.example.com")], other) == false, "\(other)")
        }
        #expect(try self.names([dns("*.")], "example") == false)
        #expect(try self.names([SketchedChain.address([192, 0, 2, 1])], "192.0.2.1") == true)
        #expect(try self.names([], "api.example.com") == false)
        #expect(try self.names([dns("login.example.com")], "") == nil)
        // What was not read may name it.
        let many = (0...ReadableCertificate.maximumNames).map { dns("h\($0).example.com") }
        #expect(try self.names(many, "api.example.com") == nil)
    }
}
