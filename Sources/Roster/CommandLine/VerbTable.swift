/// The verbs, in the order of help.
enum VerbTable {
    static let verbs: [any CommandVerb.Type] = [
        ListVerb.self, ShowVerb.self, CountVerb.self, InsertVerb.self, UpdateVerb.self, DeleteVerb.self,
        ImportVerb.self, ExportVerb.self, WatchVerb.self, HistoryVerb.self, CheckVerb.self, SimulateVerb.self,
        DemoVerb.self, CreateVerb.self, CopyVerb.self, MigrateVerb.self, ModelVerb.self,
        PortVerb.self,
        ModelCompileVerb.self, ModelGenerateVerb.self, ConfigVerb.self, CompletionVerb.self, ManualVerb.self,
    ]
    /// Verbs for programs, which help does not name.
    private static let hidden: [any CommandVerb.Type] = [CompleteVerb.self]

    static func verb(named name: String) -> (any CommandVerb.Type)? { (verbs + hidden).first { $0.name == name } }

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
