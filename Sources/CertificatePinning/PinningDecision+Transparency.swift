// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

/// What follows where a policy of Certificate Transparency is asked for beside the pins (formats.md, section 4).
extension PinningDecision {
    /// The decision when the path must satisfy a policy of Certificate Transparency, too.
    ///
    /// Only a path that is acceptable otherwise is judged: one that matches a pin, or, without any rules for the host and
    /// without a list, one that default validation accepted. An entry that has expired, is off or is suspended asks for
    /// nothing. A policy that is not satisfied blocks; under an entry that enforces nothing it is only the reason.
    ///
    /// - Parameter judgement: What the policy makes of the path. Not asked for where nothing follows from it.
    /// - Returns: The decision with ``transparency``; the same decision where the policy is not asked.
    public consuming func requiring(_ judgement: @autoclosure () -> TransparencyJudgement) -> PinningDecision {
        guard self.verdict == .allow else { return self }
        let isWithoutRules = self.reason == .notPinned && self.entry == nil && self.list == nil
        guard self.reason == .pinMatch || isWithoutRules else { return self }
        let judgement = judgement()
        self.transparency = judgement
        guard !judgement.isSatisfied else { return self }
        if isWithoutRules { self.isEnforced = true }
        self.reason = .transparency
        self.verdict = self.isEnforced ? .block : .allow
        return self
    }
}
