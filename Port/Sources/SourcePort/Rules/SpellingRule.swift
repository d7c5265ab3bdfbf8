/// Names that exist only on Apple's systems → names with the same meaning here.
enum SpellingRule {
    private struct Spelling {
        /// Consecutive tokens. The first is not accessed as a member.
        let tokens: [String]
        let replacement: String
        /// Note to add when the name is replaced.
        var note: String?
    }

    private static let time = "TimeInterval"
    private static let spellings: [String: Spelling] = Dictionary(
        uniqueKeysWithValues: [
            Spelling(
                tokens: ["CFAbsoluteTimeGetCurrent", "(", ")"], replacement: "Date.timeIntervalSinceReferenceDate"),
            Spelling(tokens: ["CFAbsoluteTime"], replacement: time),
            Spelling(tokens: ["CFTimeInterval"], replacement: time),
            Spelling(
                tokens: ["NSPredicate", "(", ")"], replacement: "NSPredicate(value: true)",
                note:
                    "NSPredicate() became NSPredicate(value: true), which matches every object. Apple's empty predicate cannot be evaluated"
            ),
        ].map { ($0.tokens[0], $0) })

    /// Names that Foundation declares on Apple's systems and `CoreData` declares here.
    private static let moved: Set<String> = [
        "ValueTransformer", "NSValueTransformerName", "UndoManager", "NSExpression", "NSComparisonPredicate",
    ]

    /// Words after which a name is declared by the program.
    private static let declaring: Set<String> = ["let", "var", "func", "case", "typealias", "class", "struct", "enum"]

    static func apply(to work: inout PortingWork) {
        for index in work.live where work.isName(index) && !declaring.contains(work.source.text(index - 1)) {
            let source = work.source
            if let spelling = spellings[source.text(index)], source.areTokens(from: index, spelling.tokens) {
                let original = spelling.tokens.joined()
                let isDone = work.replace(
                    index, through: index + spelling.tokens.count - 1, by: spelling.replacement,
                    otherwise: "\(original): write \(spelling.replacement)")
                if isDone, let note = spelling.note { work.note(at: index, note, isLeft: false) }
            } else if source.areTokens(from: index, ["Foundation", "."]), moved.contains(source.text(index + 2)) {
                unqualify(index, &work)
            }
        }
    }

    /// `Foundation.ValueTransformer` → `ValueTransformer`, or `CoreData.ValueTransformer` if the program has its own.
    private static func unqualify(_ index: Int, _ work: inout PortingWork) {
        let name = work.source.text(index + 2)
        let wanted = work.facts.declares(name) ? "CoreData.\(name)" : name
        let isDone = work.replace(
            index, through: index + 2, by: wanted, otherwise: "Foundation.\(name): write \(wanted)")
        if isDone { work.needsCoreData = true }
    }
}
