import RosterCommands

enum HistoryVerb: CommandVerb {
    static let name = "history"
    static let summary = "Print the commits to a store, with author and time, or remove the oldest."
    static let operands: [Operand] = [.store]
    static let flags: [any CommandFlag] = [
        Flags.since, Flags.author, Flags.ofEntity, Flags.format, Flags.deleteBefore, Flags.model,
    ]
    static let notes = """
        T is the number of a transaction, or a date like 2026-07-01T12:00:00Z.
        Programs that have not read the removed transactions must read the whole store again.
        Example: roster history WorldCup.sqlite --since 12 --entity Team --format json
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        let since = try arguments.value(Flags.since)
        let author = try arguments.value(Flags.author)
        let entity = try arguments.value(Flags.ofEntity)
        let format = try arguments.value(Flags.format)
        if let place = try arguments.value(Flags.deleteBefore) {
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

extension Flags {
    static let since = Flag<HistoryCommand.Place>(
        "since", value: "T", help: "Only commits after T."
    ) { try HistoryCommand.Place($0) }

    static let deleteBefore = Flag<HistoryCommand.Place>(
        "delete-before", value: "T", help: "Print nothing, and remove the transactions before T."
    ) { try HistoryCommand.Place($0) }

    static let author = Flag<String>("author", value: "A", help: "Only transactions of this author.")

    static let ofEntity = Flag<String>(
        "entity", value: "E", completion: .entities, help: "Only changes of records of this entity.")
}

enum CheckVerb: CommandVerb {
    static let name = "check"
    static let summary = "Check a store's file and repair it on request."
    static let operands: [Operand] = [.store]
    static let flags: [any CommandFlag] = [Flags.repair, Flags.format, Flags.model]
    static let notes = """
        Looks at the database's integrity, entities and references of rows, counters of keys, places in ordered
        relationships, files of external values, and the history beside the rows. The status is 1 when something
        is wrong. --repair first copies the store to STORE.before-repair.sqlite.
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try CheckCommand(
            store: arguments.store, repairs: arguments.has(Flags.repair),
            format: arguments.value(Flags.format) ?? .table
        ).run(in: surroundings)
        return .done
    }
}

extension Flags {
    static let repair = Flag<Bool>("repair", help: "Repair what can be repaired, after copying the store.")
}

enum GrantsVerb: CommandVerb {
    static let name = "grants"
    static let summary = "Print the least rights that a role needs on a server's store, as SQL."
    static let operands: [Operand] = [.store]
    static let flags: [any CommandFlag] = [Flags.role, Flags.read, Flags.model]
    static let notes = """
        Changes nothing: pipe the lines into psql. Without --role they name psql's variable role (psql -v role=NAME).
        Example: roster grants "postgresql://db.example/app?schema=app" --role clerk | psql -h db.example app
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try GrantsCommand(
            store: arguments.store, role: arguments.value(Flags.role), readOnly: arguments.has(Flags.read)
        ).run(in: surroundings)
        return .done
    }
}

extension Flags {
    static let role = Flag<String>("role", value: "NAME", help: "The role of the server that gets the rights.")

    static let read = Flag<Bool>("read", help: "Only the rights of a role that changes nothing.")
}

enum MigrateVerb: CommandVerb {
    static let name = "migrate"
    static let summary = "Bring a store to another version of its model."
    static let operands: [Operand] = [.store]
    static let flags: [any CommandFlag] = [
        Flags.toModel, Flags.dryRun, Flags.keepBackup, Flags.format,
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
        guard let destination = try arguments.value(Flags.toModel) else {
            throw CommandError.misuse("migrate needs --to MODEL, the model that the store shall have")
        }
        try MigrateCommand(
            store: arguments.store, destination: destination, isDryRun: arguments.has(Flags.dryRun),
            keepsBackup: arguments.has(Flags.keepBackup), format: arguments.value(Flags.format) ?? .table
        ).run(in: surroundings)
        return .done
    }
}

extension Flags {
    static let toModel = Flag<String>(
        "to", value: "MODEL[:VERSION]", help: "The version of a model that the store shall have.")

    static let keepBackup = Flag<Bool>(
        "keep-backup", help: "Keep the copy of the store as it was: STORE.before-migration.sqlite.")
}
