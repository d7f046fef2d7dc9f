// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import PinListRepository
import Testing

@Suite("The name of a key on a token")
struct PKCS11URITests {
    @Test("says token, key, slot, module and the file with the PIN, percent-decoded")
    func saysTokenKeySlotModuleAndTheFileWithThePINPercentDecoded() throws {
        let uri = try PKCS11URI(
            "pkcs11:token=My%20Token%3b;object=pins%2Fkey;id=%00%ff%41;type=private;slot-id=12"
                + "?module-path=/usr/lib/a%3Fb.so&module-name=softhsm2&pin-source=file:///run/secrets/pin")
        #expect(uri.token == "My Token;")
        #expect(uri.object == "pins/key")
        #expect(uri.id == [0x00, 0xFF, 0x41])
        #expect(uri.slot == 12)
        #expect(uri.modulePath == "/usr/lib/a?b.so")
        #expect(uri.moduleName == "softhsm2")
        #expect(uri.pinSource == "/run/secrets/pin")
        #expect(try PKCS11URI("pkcs11:object=a?pin-source=/run/pin").pinSource == "/run/pin")
        #expect(try PKCS11URI("pkcs11:object=a?pin-source=file:pin").pinSource == "pin")
        #expect(try PKCS11URI("pkcs11:object=a;type=public").object == "a")
    }

    @Test(
        "is refused when anything in it is not understood",
        arguments: [
            "pkcs11:", "pkcs11:token=a", "pkcs11:object", "pkcs11:object=", "pkcs11:object=%", "pkcs11:object=%4",
            "pkcs11:object=%zz", "pkcs11:object=a;object=b", "pkcs11:object=a;serial=1", "pkcs11:object=a;model=x",
            "pkcs11:object=a;pin-source=/x", "pkcs11:object=a?token=b", "pkcs11:object=a?b?c", "pkcs11:object=%ff",
            "pkcs11:object=a%00b", "pkcs11:object=a;slot-id=one", "pkcs11:object=a;slot-id=-1",
            "pkcs11:object=a;type=cert", "pkcs11:object=a?pin-source=%7Ccat", "pkcs11:object=a?module-name=../x",
            "pkcs12:object=a", "pkcs11:object=\(String(repeating: "a", count: 5_000))",
        ])
    func isRefusedWhenAnythingInItIsNotUnderstood(text: String) {
        let error = #expect(throws: RepositoryError.self) { try PKCS11URI(text) }
        #expect(error?.code == .usage)
    }

    @Test("never holds a PIN, and the refusal does not repeat it")
    func neverHoldsAPINAndTheRefusalDoesNotRepeatIt() {
        for text in ["pkcs11:object=a?pin-value=1234", "pkcs11:object=a;pin-value=1234"] {
            let error = #expect(throws: RepositoryError.self) { try PKCS11URI(text) }
            #expect(error?.code == .usage)
            #expect(error?.reason.contains("1234") == false)
        }
    }

    @Test("and of the other keys: a path with or without file:, and a command")
    func andOfTheOtherKeysAPathWithOrWithoutFileAndACommand() throws {
        #expect(try KeyName("keys/pins.pem") == .file("keys/pins.pem"))
        #expect(try KeyName("file:keys/pins.pem") == .file("keys/pins.pem"))
        #expect(try KeyName("exec:ssh hsm sign") == .command("ssh hsm sign"))
        for text in ["", "file:", "exec:", "exec:  "] {
            #expect(throws: RepositoryError.self) { try KeyName(text) }
        }
    }
}
