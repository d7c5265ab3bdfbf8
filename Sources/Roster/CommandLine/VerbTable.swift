/// All verbs, in the order in which help lists them.
enum VerbTable {
    static let verbs: [any CommandVerb.Type] = [
        ListVerb.self, ShowVerb.self, CountVerb.self, SQLVerb.self, InsertVerb.self, UpdateVerb.self, DeleteVerb.self,
        ImportVerb.self, ExportVerb.self, WatchVerb.self, HistoryVerb.self, CheckVerb.self, GrantsVerb.self,
        SimulateVerb.self, DemoVerb.self, CreateVerb.self, CopyVerb.self, DiffVerb.self, MigrateVerb.self,
        ModelVerb.self,
        PortVerb.self,
        ModelCompileVerb.self, ModelGenerateVerb.self, ConfigVerb.self, CompletionVerb.self, ManualVerb.self,
    ]
    /// Verbs for scripts. Help does not list them.
    private static let hidden: [any CommandVerb.Type] = [CompleteVerb.self]

    static func verb(named name: String) -> (any CommandVerb.Type)? { (verbs + hidden).first { $0.name == name } }

    /// Returns suggestions for a mistyped verb: one-word verbs that begin with `word`. If there are none, returns those at
    /// one edit from it: a missing, extra or different letter, or two adjacent letters swapped.
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

    /// Returns the verb of one or two words at the start of `words`, and the remaining words; `nil` if there is no verb.
    static func verb(of words: [String]) -> (verb: any CommandVerb.Type, rest: [String])? {
        for count in [2, 1] where words.count >= count {
            if let verb = verb(named: words.prefix(count).joined(separator: " ")) {
                return (verb, Array(words.dropFirst(count)))
            }
        }
        return nil
    }
}
