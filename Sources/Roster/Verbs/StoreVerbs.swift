import RosterCommands

enum HistoryVerb: CommandVerb {
    static let name = "history"
    static let summary = "Print the transactions of a store with author and time, or delete old ones."
    static let operands: [Operand] = [.store]
    static let flags: [any CommandFlag] = [
        Flags.since, Flags.author, Flags.ofEntity, Flags.format, Flags.deleteBefore, Flags.model,
    ]
    static let notes = """
        T is a transaction number or a date such as 2026-07-01T12:00:00Z.
        A program that has not read the deleted transactions must read the whole store again.
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
                    "--delete-before is not valid with --since, --author, --entity or --format")
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
        "since", value: "T", help: "Only transactions after T."
    ) { try HistoryCommand.Place($0) }

    static let deleteBefore = Flag<HistoryCommand.Place>(
        "delete-before", value: "T", help: "Print nothing; delete the transactions before T."
    ) { try HistoryCommand.Place($0) }

    static let author = Flag<String>("author", value: "A", help: "Only transactions of this author.")

    static let ofEntity = Flag<String>(
        "entity", value: "E", completion: .entities, help: "Only changes of records of this entity.")
}

enum CheckVerb: CommandVerb {
    static let name = "check"
    static let summary = "Check a store for damage and, with --repair, repair it."
    static let operands: [Operand] = [.store]
    static let flags: [any CommandFlag] = [Flags.repair, Flags.format, Flags.model]
    static let notes = """
        Checks the integrity of the database, the entity and the references of each row, key
        counters, positions in ordered relationships, files of external values, and the
        history. The exit status is 1 if something is wrong. --repair first copies the store
        to STORE.before-repair.sqlite.
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
    static let repair = Flag<Bool>("repair", help: "Copy the store, then repair what can be repaired.")
}

enum GrantsVerb: CommandVerb {
    static let name = "grants"
    static let summary = "Print SQL that grants a role only the rights it needs on a server's store."
    static let operands: [Operand] = [.store]
    static let flags: [any CommandFlag] = [Flags.role, Flags.read, Flags.model]
    static let notes = """
        Only prints the SQL: pipe it into psql. Without --role, the SQL uses the psql variable
        role (psql -v role=NAME).
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
    static let role = Flag<String>("role", value: "NAME", help: "Grant the rights to this role of the server.")

    static let read = Flag<Bool>("read", help: "Grant only the rights needed for reading.")
}

enum MigrateVerb: CommandVerb {
    static let name = "migrate"
    static let summary = "Migrate a store to another version of its model."
    static let operands: [Operand] = [.store]
    static let flags: [any CommandFlag] = [
        Flags.toModel, Flags.dryRun, Flags.keepBackup, Flags.format,
    ]
    static let notes = """
        MODEL is an .xcdatamodeld, .xcdatamodel, .momd or .mom. VERSION is the name of one of
        its versions; without it, the current version. Compiled mapping models (.cdm) in MODEL
        or its folder define the steps that they fit. The other steps are inferred.
        Prints the changes: + added, − removed, ~ changed. --format json prints one object per
        step. --dry-run also prints the changed tables and columns and the SQL, and migrates
        nothing; it only rolls back an unfinished transaction of a crashed program.
        A copy of the store is kept in its folder until the migrated store opens. If a step
        fails, the store is unchanged.
        Example: roster migrate App.sqlite --to App.xcdatamodeld:"App 3" --dry-run
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        guard let destination = try arguments.value(Flags.toModel) else {
            throw CommandError.misuse("--to MODEL is missing: name the model to migrate to")
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
        "to", value: "MODEL[:VERSION]", help: "The model version to migrate to.")

    static let keepBackup = Flag<Bool>(
        "keep-backup", help: "Keep the copy made before the migration: STORE.before-migration.sqlite.")
}
