// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import PinListRepository

@Suite("A token that blocks")
struct BlockingCallTests {
    @Test("and never answers is waited for no longer than was said")
    func andNeverAnswersIsWaitedForNoLongerThanWasSaid() async {
        let cable = DispatchSemaphore(value: 0)
        let answer = await BlockingCall.answer(within: 0.05) { () throws(RepositoryError) -> Int in
            cable.wait()
            return 1
        }
        #expect(answer == nil)
        cable.signal()
    }

    @Test("and answers, or fails, is heard")
    func andAnswersOrFailsIsHeard() async {
        let answer = await BlockingCall.answer(within: 600) { () throws(RepositoryError) -> Int in 7 }
        #expect(answer == .success(7))
        let error = RepositoryError(.signer, "no token")
        let failure = await BlockingCall.answer(within: 600) { () throws(RepositoryError) -> Int in throw error }
        #expect(failure == .failure(error))
    }
}
