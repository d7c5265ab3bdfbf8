import PredicateSyntax

/// IN and CONTAINS: elements of collections, and substrings.
enum MembershipRelation {
    static func isIn(_ options: ComparisonOptions, right: PredicateValue?) -> PredicateCompiler.Relation {
        switch right {
        case .collection(let elements):
            let set = ValueSet(elements, options: options)
            return { left, _ in set.contains(left) }
        case .text:
            let isPart = TextRelation.relation(.contains, options, right: nil)
            return { left, right in isPart(right, left) }
        default:
            let isPart = TextRelation.relation(.contains, options, right: nil)
            return { left, right in
                if case .collection(let elements) = right {
                    return elements.contains { ValueOrder.areEqual($0, left, options) }
                }
                return isPart(right, left)
            }
        }
    }

    static func contains(_ options: ComparisonOptions, right: PredicateValue?) -> PredicateCompiler.Relation {
        let isPart = TextRelation.relation(.contains, options, right: right)
        return { left, right in
            if case .collection(let elements) = left {
                return elements.contains { ValueOrder.areEqual($0, right, options) }
            }
            return isPart(left, right)
        }
    }
}
