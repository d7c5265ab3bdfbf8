/// A compiled predicate, or a part of one.
struct PredicateTest {
    let ofFrame: (EvaluationFrame) -> Bool
    /// The same test for a ``SlotProgram``, if it reads only slots of `SELF`.
    let ofSlots: SlotTree?

    init(ofSlots: SlotTree? = nil, ofFrame: @escaping (EvaluationFrame) -> Bool) {
        self.ofFrame = ofFrame
        self.ofSlots = ofSlots
    }

    @inline(__always)
    func callAsFunction(_ frame: EvaluationFrame) -> Bool { ofFrame(frame) }

    // MARK: Logic

    static func constant(_ value: Bool) -> PredicateTest {
        PredicateTest(ofSlots: .constant(value)) { _ in value }
    }

    static func all(_ tests: [PredicateTest]) -> PredicateTest {
        let ofSlots = slots(of: tests).map(SlotTree.and)
        guard tests.count == 2 else {
            return PredicateTest(ofSlots: ofSlots) { frame in tests.allSatisfy { $0(frame) } }
        }
        let (left, right) = (tests[0].ofFrame, tests[1].ofFrame)
        return PredicateTest(ofSlots: ofSlots) { left($0) && right($0) }
    }

    static func any(_ tests: [PredicateTest]) -> PredicateTest {
        let ofSlots = slots(of: tests).map(SlotTree.or)
        guard tests.count == 2 else { return PredicateTest(ofSlots: ofSlots) { frame in tests.contains { $0(frame) } } }
        let (left, right) = (tests[0].ofFrame, tests[1].ofFrame)
        return PredicateTest(ofSlots: ofSlots) { left($0) || right($0) }
    }

    static func not(_ test: PredicateTest) -> PredicateTest {
        let ofFrame = test.ofFrame
        return PredicateTest(ofSlots: test.ofSlots.map(SlotTree.not)) { !ofFrame($0) }
    }

    /// The slot trees of `tests`; `nil` unless all have one.
    private static func slots(of tests: [PredicateTest]) -> [SlotTree]? {
        let trees = tests.compactMap(\.ofSlots)
        return trees.count == tests.count ? trees : nil
    }
}

/// A predicate that reads only slots of `SELF`.
indirect enum SlotTree {
    case constant(Bool)
    case condition(SlotAccess, any SlotCondition)
    case and([SlotTree])
    case or([SlotTree])
    case not(SlotTree)
}
