import RosterCommands

enum HistoryVerb: CommandVerb {
    static let name = "history"
    static let summary = "Print the commits to a store, with author and time, or remove the oldest."
    static let operands: [Operand] = [.store]
    static let flags: [any CommandFlag.Type] = [
        SinceFlag.self, AuthorFlag.self, OfEntityFlag.self, FormatFlag.self, DeleteBeforeFlag.self, ModelFlag.self,
    ]
    static let notes = """
        T is the number of a transaction, or a date like 2026-07-01T12:00:00Z.
        What is removed is gone for programs that have not seen it yet: they read the store anew.
        Example: roster history WorldCup.sqlite --since 12 --entity Team --format json
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        let since = try arguments.value(SinceFlag.self)
        let author = try arguments.value(AuthorFlag.self)
        let entity = try arguments.value(OfEntityFlag.self)
        let format = try arguments.value(FormatFlag.self)
        if let place = try arguments.value(DeleteBeforeFlag.self) {
            guard since == nil, author == nil, entity == nil, format == nil else {
                throw CommandError.misuse(
                    "--delete-before T removes all transactions before T; it is only valid with --model")
            }
            try HistoryCommand.delete(before: place, in: arguments.store, surroundings)
            return .done
        }
        try HistoryCommand(
            store: arguments.store, since: since, author: author, entity: entity, format: format ?? .table
        ).run(in: surroundings)
        return .done
    }
}

enum SinceFlag: CommandFlag {
    static let name = "since"
    static let placeholder: String? = "T"
    static let help = "Only commits after T."
    static func value(from text: String) throws -> HistoryCommand.Place { try HistoryCommand.Place(text) }
}

enum DeleteBeforeFlag: CommandFlag {
    static let name = "delete-before"
    static let placeholder: String? = "T"
    static let help = "Print nothing, and remove the transactions before T."
    static func value(from text: String) throws -> HistoryCommand.Place { try HistoryCommand.Place(text) }
}

enum AuthorFlag: CommandFlag {
    static let name = "author"
    static let placeholder: String? = "A"
    static let help = "Only transactions of this author."
    typealias Value = String
}

enum OfEntityFlag: CommandFlag {
    static let name = "entity"
    static let completion = WordCompletion.entities
    static let placeholder: String? = "E"
    static let help = "Only changes of records of this entity."
    typealias Value = String
}

enum CheckVerb: CommandVerb {
    static let name = "check"
    static let summary = "Check a store's file and repair it on request."
    static let operands: [Operand] = [.store]
    static let flags: [any CommandFlag.Type] = [RepairFlag.self, FormatFlag.self, ModelFlag.self]
    static let notes = """
        Looks at the database's integrity, entities and references of rows, counters of keys, places in ordered
        relationships, files of external values, and the history beside the rows. The status is 1 when something
        is wrong. --repair keeps a copy of the store beside it: STORE.before-repair.sqlite.
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try CheckCommand(
            store: arguments.store, repairs: arguments.has(RepairFlag.self),
            format: arguments.value(FormatFlag.self) ?? .table
        ).run(in: surroundings)
        return .done
    }
}

enum RepairFlag: CommandFlag {
    static let name = "repair"
    static let help = "Repair what can be repaired, after copying the store."
    typealias Value = Bool
}

enum GrantsVerb: CommandVerb {
    static let name = "grants"
    static let summary = "Print the least rights that a role needs on a server's store, as SQL."
    static let operands: [Operand] = [.store]
    static let flags: [any CommandFlag.Type] = [RoleFlag.self, ReadFlag.self, ModelFlag.self]
    static let notes = """
        Changes nothing: pipe the lines into psql. Without --role they name psql's variable role (psql -v role=NAME).
        Example: roster grants "postgresql://db.example/app?schema=app" --role clerk | psql -h db.example app
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try GrantsCommand(
            store: arguments.store, role: arguments.value(RoleFlag.self), readOnly: arguments.has(ReadFlag.self)
        ).run(in: surroundings)
        return .done
    }
}

enum RoleFlag: CommandFlag {
    static let name = "role"
    static let placeholder: String? = "NAME"
    static let help = "The role of the server that gets the rights."
    typealias Value = String
}

enum ReadFlag: CommandFlag {
    static let name = "read"
    static let help = "Only the rights of a role that changes nothing."
    typealias Value = Bool
}

enum MigrateVerb: CommandVerb {
    static let name = "migrate"
    static let summary = "Bring a store to another version of its model."
    static let operands: [Operand] = [.store]
    static let flags: [any CommandFlag.Type] = [
        ToModelFlag.self, DryRunFlag.self, KeepBackupFlag.self, FormatFlag.self,
    ]
    static let notes = """
        MODEL is a .xcdatamodeld, .momd, .xcdatamodel or .mom, and VERSION the name of one of its versions, else the
        current one. Compiled mapping models (.cdm) beside or in MODEL are gone by where they fit; other steps are
        inferred. Prints what changes: + is new, − goes, ~ changes; --dry-run also the tables with their rows and
        columns, and the SQL, and changes nothing, but that opening takes back what a writer that died left half done.
        The plan as JSON (--format json) is one object a step. A copy of the store stands beside it until the result
        was opened; when a step fails, the store is as it was.
        Example: roster migrate App.sqlite --to App.xcdatamodeld:"App 3" --dry-run
        """
    static let stopsCleanly = true

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        guard let destination = try arguments.value(ToModelFlag.self) else {
            throw CommandError.misuse("migrate needs --to MODEL, the model that the store shall have")
        }
        try MigrateCommand(
            store: arguments.store, destination: destination, isDryRun: arguments.has(DryRunFlag.self),
            keepsBackup: arguments.has(KeepBackupFlag.self), format: arguments.value(FormatFlag.self) ?? .table
        ).run(in: surroundings)
        return .done
    }
}

enum ToModelFlag: CommandFlag {
    static let name = "to"
    static let placeholder: String? = "MODEL[:VERSION]"
    static let help = "The version of a model that the store shall have."
    typealias Value = String
}

enum KeepBackupFlag: CommandFlag {
    static let name = "keep-backup"
    static let help = "Keep the copy of the store as it was: STORE.before-migration.sqlite."
    typealias Value = Bool
}
