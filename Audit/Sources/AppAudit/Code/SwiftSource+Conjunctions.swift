// This source file is part of the Tumbler open source project
//
// SPDX-License-Identifier: Apache-2.0

internal import SwiftSyntax

/// Conditions that hold together with a comparison, joined by `&&` or by a comma: `guard r != .invalid, r == .proceed`.
///
/// What they let pass is no more than what the narrowest of them does.
extension SwiftSource {
    /// The results that are good ones, by all their names.
    static let goodResults: Set<String> = [
        "proceed", "unspecified", "kSecTrustResultProceed", "kSecTrustResultUnspecified",
    ]

    /// The most bytes of conditions that are looked at: each comparison in them costs a walk through them.
    private static let maximumConditions = 400

    /// Whether a condition that holds together with a comparison lets the same value pass with good results alone.
    ///
    /// - Parameters:
    ///   - index: The place of the comparison's sign in its sequence.
    ///   - sequence: The sequence, whose operators have no precedence yet.
    ///   - value: The side of the comparison that is not the result.
    func isNarrowed(at index: Int, of sequence: SequenceExprSyntax, _ value: ExprSyntax) -> Bool {
        let value = self.short(value)
        guard !value.isEmpty, sequence.totalLength.utf8Length <= Self.maximumConditions else { return false }
        var isNarrowed = self.narrows(Array(sequence.elements), around: index, value)
        var node = Syntax(sequence)
        while let parent = node.parent, parent.totalLength.utf8Length <= Self.maximumConditions {
            switch parent.kind {
            case .labeledExpr, .labeledExprList, .tupleExpr, .sequenceExpr, .conditionElement: break
            case .exprList:
                let elements = parent.as(ExprListSyntax.self).map { Array($0) } ?? []
                if let place = elements.firstIndex(where: { $0.id == node.id }) {
                    // A conjunction that is compared, with false perhaps, may let pass what it would hold back.
                    for side in [place - 1, place + 1] where elements.indices.contains(side) {
                        guard Self.joins(elements[side]) else { return false }
                    }
                    isNarrowed = isNarrowed || self.narrows(elements, around: place, value)
                }
            case .conditionElementList:
                if isNarrowed { return true }
                for condition in parent.as(ConditionElementListSyntax.self) ?? [] where condition.id != node.id {
                    guard case .expression(let other) = condition.condition else { continue }
                    if self.takesGoodResults([other], of: value) { return true }
                }
                return false
            // A conjunction that is negated lets pass what it would hold back.
            case .prefixOperatorExpr: return false
            default: return isNarrowed
            }
            node = parent
        }
        return isNarrowed
    }

    /// Whether what `&&` joins with a place in a sequence takes good results of a value alone.
    private func narrows(_ elements: [ExprSyntax], around place: Int, _ value: String) -> Bool {
        let whole = elements.split { $0.is(AssignmentExprSyntax.self) || $0.is(UnresolvedTernaryExprSyntax.self) }
        let ways = whole.flatMap { Self.parts($0, "||") }
        guard let way = ways.first(where: { $0.indices.contains(place) }) else { return false }
        return Self.parts(way, "&&").contains {
            !$0.indices.contains(place) && self.takesGoodResults($0, of: value)
        }
    }

    /// Whether what stands between two operands leaves each a condition of its own.
    private static func joins(_ element: ExprSyntax) -> Bool {
        element.is(AssignmentExprSyntax.self) || element.is(UnresolvedTernaryExprSyntax.self)
            || ["&&", "||"].contains(element.as(BinaryOperatorExprSyntax.self)?.operator.text)
    }

    private static func parts(_ elements: ArraySlice<ExprSyntax>, _ sign: String) -> [ArraySlice<ExprSyntax>] {
        elements.split(omittingEmptySubsequences: false) {
            $0.as(BinaryOperatorExprSyntax.self)?.operator.text == sign
        }
    }

    /// Whether each way in which a condition can hold compares a value with a good result.
    private func takesGoodResults(_ elements: ArraySlice<ExprSyntax>, of value: String) -> Bool {
        // A ternary holds by its other way, too.
        guard !elements.contains(where: { $0.is(UnresolvedTernaryExprSyntax.self) }) else { return false }
        return Self.parts(elements, "||").allSatisfy { way in
            Self.parts(way, "&&").contains { part in
                let part = Array(part)
                if part.count == 1 {
                    let inner = part[0].as(TupleExprSyntax.self).flatMap {
                        $0.elements.count == 1 ? $0.elements.first?.expression : nil
                    }
                    if let inner { return self.takesGoodResults([inner], of: value) }
                    guard let sequence = part[0].as(SequenceExprSyntax.self) else { return false }
                    return self.takesGoodResults(Array(sequence.elements)[...], of: value)
                }
                guard part.count == 3, part[1].as(BinaryOperatorExprSyntax.self)?.operator.text == "==" else {
                    return false
                }
                return self.short(part[0]) == value && self.isGood(part[2])
                    || self.short(part[2]) == value && self.isGood(part[0])
            }
        }
    }

    private func isGood(_ result: ExprSyntax) -> Bool {
        self.name(of: result).split(separator: ".").last.map { Self.goodResults.contains(String($0)) } ?? false
    }
}
