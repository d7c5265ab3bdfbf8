/// The verbs, in the order of help.
enum VerbTable {
    static let verbs: [any CommandVerb.Type] = [
        ListVerb.self, ShowVerb.self, CountVerb.self, InsertVerb.self, UpdateVerb.self, DeleteVerb.self,
        ImportVerb.self, ExportVerb.self, WatchVerb.self, HistoryVerb.self, CheckVerb.self, GrantsVerb.self,
        SimulateVerb.self, DemoVerb.self, CreateVerb.self, CopyVerb.self, MigrateVerb.self, ModelVerb.self,
        PortVerb.self,
        ModelCompileVerb.self, ModelGenerateVerb.self, ConfigVerb.self, CompletionVerb.self, ManualVerb.self,
    ]
    /// Verbs for programs, which help does not name.
    private static let hidden: [any CommandVerb.Type] = [CompleteVerb.self]

    static func verb(named name: String) -> (any CommandVerb.Type)? { (verbs + hidden).first { $0.name == name } }

    /// The verbs of one word that a mistyped one may have meant: those that begin with it, or differ in one letter that is
    /// missing, too many or another, or in two that stand the other way round.
    static func verbs(like word: String) -> [String] {
        let names = verbs.map { $0.name }.filter { !$0.contains(" ") }
        let longer = names.filter { $0.hasPrefix(word) }
        return longer.isEmpty ? names.filter { isOneSlip(Array(word), Array($0)) } : longer
    }

    private static func isOneSlip(_ left: [Character], _ right: [Character]) -> Bool {
        guard abs(left.count - right.count) <= 1 else { return false }
        let start = zip(left, right).prefix { $0 == $1 }.count
        let (a, b) = (Array(left[start...]), Array(right[start...]))
        if a.count == b.count, a.count >= 2, a[0] == b[1], a[1] == b[0], a[2...] == b[2...] { return true }
        return a.dropFirst(a.count >= b.count ? 1 : 0) == b.dropFirst(b.count >= a.count ? 1 : 0)
    }

    /// The verb with which `words` begin, which may be one of two words, and what follows it; `nil` where there is none.
    static func verb(of words: [String]) -> (verb: any CommandVerb.Type, rest: [String])? {
        for count in [2, 1] where words.count >= count {
            if let verb = verb(named: words.prefix(count).joined(separator: " ")) {
                return (verb, Array(words.dropFirst(count)))
            }
        }
        return nil
    }
}
