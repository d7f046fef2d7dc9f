// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import AppAttestation
import CertificatePinning
import Crypto
import Foundation
import Testing

/// What is sent to Apple for a newer receipt, and what comes back.
@Suite("Another receipt from Apple")
struct ReceiptRefreshTests {
    private let key = P256.Signing.PrivateKey()

    private func token(_ teamID: String = "ABCDE12345", _ keyID: String = "0123456789") -> DeviceCheckToken? {
        DeviceCheckToken(
            teamID: teamID, keyID: keyID, at: Timestamp(secondsSince1970: 1_795_000_000), signedBy: self.key)
    }

    private static func decoded(_ part: Substring) throws -> Data {
        var text = part.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        return try #require(Data(base64Encoded: text))
    }

    @Test("the token is a JSON Web Token that names team, key and time, and its signature holds")
    func tokenIsAJSONWebTokenThatNamesTeamKeyAndTimeAndItsSignatureHolds() throws {
        let text = try #require(self.token()).text
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        try #require(parts.count == 3)
        let header = try JSONDecoder().decode([String: String].self, from: Self.decoded(parts[0]))
        #expect(header == ["alg": "ES256", "kid": "0123456789"])
        struct Claims: Decodable {
            let iss: String
            let iat: Int
        }
        let claims = try JSONDecoder().decode(Claims.self, from: Self.decoded(parts[1]))
        #expect(claims.iss == "ABCDE12345" && claims.iat == 1_795_000_000)
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: Self.decoded(parts[2]))
        #expect(self.key.publicKey.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8)))
        #expect(!text.contains("="))
    }

    @Test("ids that would break out of the token's JSON make none", arguments: ["", "A\",\"x\":\"", "ä", "A B"])
    func idsThatWouldBreakOutOfTheTokensJSONMakeNone(id: String) {
        #expect(self.token(id) == nil)
        #expect(self.token("ABCDE12345", id) == nil)
    }

    @Test("the request goes to the environment of the key, with the token as it is")
    func requestGoesToTheEnvironmentOfTheKeyWithTheTokenAsItIs() throws {
        let token = try #require(self.token())
        let request = ReceiptRequest(for: [1, 2, 3], in: .production, token: token)
        #expect(request.url == "https://data.appattest.apple.com/v1/attestationData" && request.method == "POST")
        #expect(request.headers["Authorization"] == token.text && request.body == Array("AQID".utf8))
        #expect(
            ReceiptRequest(for: [], in: .development, token: token).url
                == "https://data-development.appattest.apple.com/v1/attestationData")
    }

    @Test("answers are told apart")
    func answersAreToldApart() {
        let renewed = ReceiptAnswer(status: 200, body: Array("AQ\r\nID\n".utf8))
        #expect(renewed.code == .renewed && renewed.receipt == [1, 2, 3])
        for body in ["", "<html>", "AQI"] {
            let answer = ReceiptAnswer(status: 200, body: Array(body.utf8))
            #expect(answer.code == .unexpected && answer.receipt == nil)
        }
        #expect(ReceiptAnswer(status: 200, body: [UInt8](repeating: 0x41, count: 98_308)).code == .unexpected)
        for (status, code) in [
            (304, .notYet), (400, .refused), (401, .unauthorized), (404, .unknown), (429, .tooMany), (500, .unexpected),
            (0, .unexpected), (-1, .unexpected), (204, .unexpected),
        ] as [(Int, ReceiptAnswer.Code)] {
            let answer = ReceiptAnswer(status: status, body: Array("AQID".utf8))
            #expect(answer.code == code && answer.receipt == nil)
        }
    }
}
#endif
