/// The verbs, in the order of help.
enum VerbTable {
    static let verbs: [any CommandVerb.Type] = [
        ListVerb.self, ShowVerb.self, CountVerb.self, InsertVerb.self, UpdateVerb.self, DeleteVerb.self,
        ImportVerb.self, ExportVerb.self, WatchVerb.self, SimulateVerb.self, CreateVerb.self, ModelVerb.self,
    ]

    static func verb(named name: String) -> (any CommandVerb.Type)? { verbs.first { $0.name == name } }
}
