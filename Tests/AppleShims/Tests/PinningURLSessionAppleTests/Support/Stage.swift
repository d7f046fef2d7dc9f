// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import FoundationNetworking
import Security
import X509

/// A host with a chain of the tests' PKI, a network with its server, and its root among the system's anchors.
struct Stage {
    let host: String
    let pki: TestPKI
    let network = SimulatedNetwork()

    init(_ host: String, server: SimulatedNetwork.Server? = nil) throws {
        self.host = host
        self.pki = try TestPKI([host])
        SimulatedSystem.addAnchor(self.pki.root.der)
        self.network.add(server ?? SimulatedNetwork.Server(presented: self.presented), at: host)
        self.network.setAnswer(.text("hello"), for: self.address)
    }

    /// What the server presents.
    var presented: [[UInt8]] { self.pki.chain.map(\.der) }

    /// A page of the server.
    var address: String { "https://\(self.host)/" }

    /// The same as an URL.
    var url: URL {
        get throws {
            guard let url = URL(string: self.address) else { throw URLError(.badURL) }
            return url
        }
    }

    /// A session in this network.
    func session(_ delegate: (any URLSessionDelegate)? = nil) -> URLSession {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.simulatedNetwork = self.network
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }
}
