// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

#if NIO
import CertificatePinning
@_spi(Tools) import PinningNIO
import Testing

@Suite("A host that the world does not reach")
struct LocalHostNameTests {
    @Test(
        "is one that is written as this machine or a private network",
        arguments: [
            "localhost", "LOCALHOST.", "a.localhost", "localhost.localdomain", "ip6-localhost", "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0", "0.1.2.3", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.0.1", "169.254.169.254",
            "100.64.0.1", "100.127.255.255", "192.0.0.8", "198.18.0.1", "198.19.255.255", "224.0.0.1", "240.0.0.1",
            "255.255.255.255", "::", "::1", "[::1]", "::ffff:127.0.0.1", "::ffff:a00:1", "::10.0.0.1", "fe80::1",
            "febf::1",
            "fec0::1", "fc00::1", "fdff::1", "ff02::1", "64:ff9b::127.0.0.1", "64:ff9b:1::1", "2002:7f00:1::",
            "2002:a00:1::1",
        ])
    func isOneThatIsWrittenAsThisMachineOrAPrivateNetwork(host: String) throws {
        #expect(try HostName(host).isLocal)
    }

    @Test(
        "a host that the world reaches is not local",
        arguments: [
            "example.com", "localhost.example.com", "notlocalhost", "mylocalhost.com", "1.1.1.1", "9.255.255.255",
            "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.1", "169.253.0.1", "169.255.0.1",
            "172.15.255.255", "172.32.0.0", "192.0.1.1", "192.167.0.1", "192.169.0.1", "198.17.0.1", "198.20.0.1",
            "223.255.255.255", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1", "2002:101:101::", "fbff::1",
            "fe00::1", "2001:db8::1", "64:ff9a::1",
        ])
    func hostThatTheWorldReachesIsNotLocal(host: String) throws {
        #expect(try !HostName(host).isLocal)
    }
}
#endif
