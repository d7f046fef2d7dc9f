// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import CLibcrypto
import CertificatePinning
import Dispatch
import PathValidation

/// (d): path validation beside libcrypto's on the same chain, parsing included on both sides.
struct PathBenchmark {
    let chain: TestChain

    func run(_ report: inout Report) async {
        print("Path validation, \(self.chain.name):")
        let presented = Array(self.chain.certificates.dropLast())
        let anchor = self.chain.certificates[2]
        let time = Timestamp(secondsSince1970: self.chain.time)
        let roots = RootStore(certificates: [anchor])
        guard let host = try? HostName(self.chain.host) else { return }
        let validator = PathValidator(roots: roots, monotonicNanoseconds: { DispatchTime.now().uptimeNanoseconds })
        let outcome = await validator.validate(presented: presented, as: .host(host), at: time)
        guard case .success = outcome.result else {
            report.fails("the chain validates (\(outcome.result))")
            return
        }
        report.figure("work", "\(outcome.work.signatureChecks) signature checks, \(outcome.work.candidateSteps) steps")
        var ours: [Double] = []
        var theirs: [Double] = []
        for round in 0..<27 {
            var start = DispatchTime.now().uptimeNanoseconds
            for _ in 0..<50 { keep(await validator.validate(presented: presented, as: .host(host), at: time)) }
            if round >= 2 { ours.append(Double(DispatchTime.now().uptimeNanoseconds - start) / 50) }
            start = DispatchTime.now().uptimeNanoseconds
            for _ in 0..<50 {
                guard Libcrypto.validates(presented, anchor: anchor, host: self.chain.host, time: self.chain.time)
                else {
                    report.fails("libcrypto validates the chain")
                    return
                }
            }
            if round >= 2 { theirs.append(Double(DispatchTime.now().uptimeNanoseconds - start) / 50) }
        }
        let (own, peer) = (ours.sorted()[ours.count / 2], theirs.sorted()[theirs.count / 2])
        report.time("(d) ours", own)
        report.time("(d) libcrypto's", peer)
        report.figure("(d) ours : libcrypto's", "\((own / peer * 100).rounded() / 100)")
    }
}

/// libcrypto's validation of a server's chain.
enum Libcrypto {
    static func validates(_ presented: [[UInt8]], anchor: [UInt8], host: String, time: Int64) -> Bool {
        let parsed = presented.compactMap { self.certificate($0) }
        guard parsed.count == presented.count, let root = self.certificate(anchor) else { return false }
        let store = X509_STORE_new()
        let context = X509_STORE_CTX_new()
        let others = tumbler_stack()
        defer {
            X509_STORE_CTX_free(context)
            X509_STORE_free(store)
            tumbler_free_stack(others)
            for certificate in parsed + [root] { X509_free(certificate) }
        }
        X509_STORE_add_cert(store, root)
        for certificate in parsed.dropFirst() { tumbler_push(others, certificate) }
        guard X509_STORE_CTX_init(context, store, parsed[0], others) == 1 else { return false }
        let parameters = X509_STORE_CTX_get0_param(context)
        X509_VERIFY_PARAM_set_time(parameters, time_t(time))
        X509_VERIFY_PARAM_set1_host(parameters, host, 0)
        X509_STORE_CTX_set_default(context, "ssl_server")
        return X509_verify_cert(context) == 1
    }

    private static func certificate(_ bytes: [UInt8]) -> OpaquePointer? {
        bytes.withUnsafeBufferPointer { buffer in
            var pointer = buffer.baseAddress
            return d2i_X509(nil, &pointer, buffer.count)
        }
    }
}
