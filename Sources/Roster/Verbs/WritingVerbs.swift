import RosterCommands

private let assignmentNotes = """
    Write a value in the form of its attribute's type: 12, 3.5, true, 2022-12-18 or
    2022-12-18T18:00:00+03:00. NULL means no value; \\NULL is the text NULL.
    For a to-one relationship, give the unique key of the other record, Entity/p12 or
    a URI. For a to-many relationship, give a JSON list of all its records, such as
    'teams=["Japan","Team/p12"]'.
    """

enum InsertVerb: CommandVerb {
    static let name = "insert"
    static let summary = "Add a record."
    static let operands: [Operand] = [
        .store, .entity, Operand(name: "key=value", isOptional: true, repeats: true, completion: .assignment),
    ]
    static let flags: [any CommandFlag] = [Flags.dryRun, Flags.format, Flags.model]
    static let notes = assignmentNotes

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try InsertCommand(
            store: arguments.store, entity: arguments.operands[1],
            assignments: arguments.operands.dropFirst(2).map(Assignment.init),
            isDryRun: arguments.has(Flags.dryRun), format: arguments.value(Flags.format) ?? .table
        ).run(in: surroundings)
        return .done
    }
}

enum UpdateVerb: CommandVerb {
    static let name = "update"
    static let summary = "Set properties of all matching records, in one transaction."
    static let operands: [Operand] = [
        .store, .entity, Operand(name: "key=value", repeats: true, completion: .assignment),
    ]
    static let flags: [any CommandFlag] = [
        Flags.where, Flags.dryRun, Flags.retry, Flags.format, Flags.model,
    ]
    static let requiredFlags: [any CommandFlag] = [Flags.where]
    static let notes = assignmentNotes + "\n--where TRUEPREDICATE matches all records."

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try UpdateCommand(
            store: arguments.store, entity: arguments.operands[1], predicate: arguments.required(Flags.where),
            assignments: arguments.operands.dropFirst(2).map(Assignment.init),
            isDryRun: arguments.has(Flags.dryRun), retries: arguments.value(Flags.retry) ?? 0,
            format: arguments.value(Flags.format) ?? .table
        ).run(in: surroundings)
        return .done
    }
}

extension Flags {
    static let retry = Flag<Int>(
        "retry", value: "N", help: "Retry up to N times if another program changes the same records.")
}

enum DeleteVerb: CommandVerb {
    static let name = "delete"
    static let summary = "Delete all matching records, with cascades, in one transaction."
    static let operands: [Operand] = [.store, .entity]
    static let flags: [any CommandFlag] = [Flags.where, Flags.dryRun, Flags.format, Flags.model]
    static let requiredFlags: [any CommandFlag] = [Flags.where]
    static let notes = "--where TRUEPREDICATE matches all records."

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try DeleteCommand(
            store: arguments.store, entity: arguments.operands[1], predicate: arguments.required(Flags.where),
            isDryRun: arguments.has(Flags.dryRun), format: arguments.value(Flags.format) ?? .table
        ).run(in: surroundings)
        return .done
    }
}

enum ImportVerb: CommandVerb {
    static let name = "import"
    static let summary = "Import records from a file. A record whose unique key exists is updated."
    static let operands: [Operand] = [.store, .entity, Operand(name: "FILE", completion: .files)]
    static let flags: [any CommandFlag] = [
        Flags.batch, Flags.delimiter, Flags.encoding, Flags.skipBad, Flags.dryRun, Flags.format, Flags.model,
    ]
    static let notes = """
        FILE is JSON (an array, or one object after the other), CSV or TSV; - is standard
        input. The delimiter of CSV is guessed from its first lines. In CSV, an empty field
        is NULL and "" is the empty text. A key such as location.latitude sets latitude of
        the record in the relationship location. Each batch is one transaction: after an
        error or Ctrl-C, complete batches stay imported.
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        let counts = try ImportCommand(
            store: arguments.store, entity: arguments.operands[1], file: arguments.operands[2],
            format: arguments.value(Flags.format), delimiter: arguments.value(Flags.delimiter),
            encoding: arguments.value(Flags.encoding), skipsBad: arguments.has(Flags.skipBad),
            batchSize: arguments.value(Flags.batch) ?? 1000,
            isDryRun: arguments.has(Flags.dryRun)
        ).run(in: surroundings)
        return counts.skipped == 0 ? .done : .incomplete
    }
}

extension Flags {
    static let encoding = Flag<TextEncoding>(
        "encoding", help: "The encoding of a file without a byte order mark; else it is UTF-8.")

    static let skipBad = Flag<Bool>(
        "skip-bad", help: "Leave out lines and records with errors, and report each on standard error; the status is 3."
    )
}

enum CreateVerb: CommandVerb {
    static let name = "create"
    static let summary = "Create an empty store for a model."
    static let operands: [Operand] = [.store]
    static let flags: [any CommandFlag] = [Flags.model]
    static let requiredFlags: [any CommandFlag] = [Flags.model]
    static let notes = """
        STORE is a path or postgresql://USER@HOST/DATABASE?schema=NAME.
        The extension of a path selects the store type: .xml an XML store, .binary a binary
        store, any other an SQLite store.
        On a server, &partitions=N divides each table into N partitions by the hash of its key.
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        guard let model = try arguments.value(Flags.model) else {
            throw CommandError.misuse("--model FILE is missing")
        }
        try CreateCommand(store: arguments.operands[0], model: model).run(in: surroundings)
        return .done
    }
}

enum CopyVerb: CommandVerb {
    static let name = "copy"
    static let summary = "Copy a store into a new store of any type, then compare both."
    static let operands: [Operand] = [.store, Operand(name: "COPY", completion: .files)]
    static let flags: [any CommandFlag] = [Flags.model]
    static let notes = """
        COPY is a path or postgresql://USER@HOST/DATABASE?schema=NAME.
        The extension of a path selects the store type: .xml an XML store, .binary a binary
        store, any other an SQLite store.
        If files of values cannot be read, the copy is made without these values, standard
        error names the first of them, and the exit status is 1.
        Example: roster copy App.sqlite postgresql://db.example/app?schema=app
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try CopyCommand(source: arguments.store, destination: arguments.operands[1]).run(in: surroundings)
        return .done
    }
}
