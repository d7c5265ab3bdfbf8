import RosterCommands

/// Operands shared by several verbs.
extension Operand {
    static let store = Operand(name: "STORE", completion: .stores)
    static let entity = Operand(name: "ENTITY", completion: .entities)
}

extension Arguments {
    /// The store named by the first operand, with the model of `--model` if given.
    var store: StoreLocation {
        get throws { StoreLocation(store: operands[0], model: try value(Flags.model)) }
    }
}

enum ListVerb: CommandVerb {
    static let name = "list"
    static let summary = "Print the records of an entity, optionally in sections."
    static let operands: [Operand] = [.store, .entity]
    static let flags: [any CommandFlag] = [
        Flags.section, Flags.sort, Flags.where, Flags.limit, Flags.offset, Flags.columns,
        Flags.sectionsOnly, Flags.total, Flags.sum, Flags.average, Flags.minimum, Flags.maximum, Flags.format,
        Flags.model,
    ]
    static let notes = """
        Without --sort, records are printed in the order of the store.
        Example: roster list WorldCup.sqlite Team --section qualifyingZone --sort wins:desc,teamName
        Example: roster list WorldCup.sqlite Venue --section opened:year --sections-only --sum capacity
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        let query = RecordQuery(
            predicate: try arguments.value(Flags.where), sort: try arguments.value(Flags.sort) ?? [],
            section: try arguments.value(Flags.section), limit: try arguments.value(Flags.limit) ?? 0,
            offset: try arguments.value(Flags.offset) ?? 0, aggregates: try arguments.aggregates)
        try ListCommand(
            store: arguments.store, entity: arguments.operands[1], query: query,
            columns: arguments.value(Flags.columns), sectionsOnly: arguments.has(Flags.sectionsOnly),
            hasTotal: arguments.has(Flags.total), format: arguments.value(Flags.format) ?? .table
        ).run(in: surroundings)
        return .done
    }
}

enum ShowVerb: CommandVerb {
    static let name = "show"
    static let summary = "Print one record with its relationships, or one of its values."
    static let operands: [Operand] = [
        .store, Operand(name: "OBJECT", completion: .object), Operand(name: "KEY", isOptional: true),
    ]
    static let flags: [any CommandFlag] = [Flags.raw, Flags.format, Flags.model]
    static let notes = """
        OBJECT is a URI (x-coredata://…), Entity/p12, or Entity:VALUE with the value of the unique key.
        Example: roster show Album.sqlite Photo/p12 image --raw > photo.png
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        let (isRaw, format) = (arguments.has(Flags.raw), try arguments.value(Flags.format))
        let keyPath = arguments.operands.count > 2 ? arguments.operands[2] : nil
        if isRaw, keyPath == nil { throw CommandError.misuse("--raw needs the KEY of a value") }
        if isRaw, format != nil {
            throw CommandError.misuse("--raw prints the bytes of the value; --format formats it")
        }
        try ShowCommand(
            store: arguments.store, object: arguments.operands[1], keyPath: keyPath, isRaw: isRaw,
            format: format ?? .table
        ).run(in: surroundings)
        return .done
    }
}

extension Flags {
    static let raw = Flag<Bool>("raw", help: "Print the bytes of the value, without a line break.")
}

enum CountVerb: CommandVerb {
    static let name = "count"
    static let summary = "Print the number of records."
    static let operands: [Operand] = [.store, .entity]
    static let flags: [any CommandFlag] = [Flags.where, Flags.model]

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try CountCommand(
            store: arguments.store, entity: arguments.operands[1], predicate: arguments.value(Flags.where)
        ).run(in: surroundings)
        return .done
    }
}

enum SQLVerb: CommandVerb {
    static let name = "sql"
    static let summary = "Answer a question in SQL; without STATEMENT print the tables and columns that it can name."
    static let operands: [Operand] = [.store, Operand(name: "STATEMENT", isOptional: true)]
    static let flags: [any CommandFlag] = [Flags.format, Flags.output, Flags.model]
    static let notes = """
        STATEMENT is one SELECT, WITH, VALUES or EXPLAIN of SQLite; - reads it from standard input. The store is only read.
        Each entity is a table with the names of the model. pk is the key of a record, and a relationship to one record holds
        that record's pk. Team_players has the pairs of a many-to-many relationship: source, destination, and position.
        Dates are text in UTC, as list prints them: 1998-06-10, or 1998-06-10T19:00:00Z.
        Example: roster sql WorldCup.sqlite 'SELECT qualifyingZone, SUM(wins) FROM Team GROUP BY 1 ORDER BY 2 DESC'
        Example: roster sql WorldCup.sqlite 'SELECT * FROM Venue' --format csv | roster -
        """
    static let stopsCleanly = true

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try SQLCommand(
            store: arguments.store, statement: arguments.operands.dropFirst().first,
            file: arguments.value(Flags.output), format: arguments.value(Flags.format)
        ).run(in: surroundings)
        return .done
    }
}

enum ExportVerb: CommandVerb {
    static let name = "export"
    static let summary = "Write records to FILE or standard output, as text that import can read."
    static let operands: [Operand] = [.store, .entity, Operand(name: "FILE", isOptional: true, completion: .files)]
    static let flags: [any CommandFlag] = [
        Flags.where, Flags.sort, Flags.columns, Flags.format, Flags.model,
    ]
    static let notes = """
        Without --format, FILE's extension selects the format (.json .csv .tsv); otherwise json.
        If values cannot be read because their files, classes or transformers are missing, the
        records are written without them, standard error names the first of them, and the exit
        status is 1.
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        let query = RecordQuery(
            predicate: try arguments.value(Flags.where), sort: try arguments.value(Flags.sort) ?? [])
        let outcome = try ExportCommand(
            store: arguments.store, entity: arguments.operands[1],
            file: arguments.operands.count > 2 ? arguments.operands[2] : nil, query: query,
            columns: arguments.value(Flags.columns), format: arguments.value(Flags.format)
        ).run(in: surroundings)
        if let missing = outcome.missing {
            throw CommandError.failure("wrote the records, but \(missing)")
        }
        return .done
    }
}

enum ModelVerb: CommandVerb {
    static let name = "model"
    static let summary = "Print the model of a store or model file as text, JSON, source or diagram."
    static let operands = [Operand(name: "STORE|MODEL", completion: .files)]
    static let flags: [any CommandFlag] = [Flags.modelFormat, Flags.output]
    static let notes = """
        MODEL is .xcdatamodeld, .xcdatamodel, .momd or .mom. Without --format, FILE's extension
        selects the format (.xcdatamodel .xcdatamodeld .json .dot .mmd); otherwise text.
        If a store of an old framework has no model, it is inferred from the tables.
        Example: roster model App.sqlite --format xcdatamodel -o App.xcdatamodeld
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try ModelCommand(
            path: arguments.operands[0], format: arguments.value(Flags.modelFormat),
            output: arguments.value(Flags.output)
        ).run(in: surroundings)
        return .done
    }
}

enum ModelCompileVerb: CommandVerb {
    static let name = "model compile"
    static let summary = "Compile a source model, with all its versions, for programs to load."
    static let operands = [Operand(name: "MODEL", completion: .files)]
    static let flags: [any CommandFlag] = [Flags.output]
    static let requiredFlags: [any CommandFlag] = [Flags.output]
    static let notes = """
        MODEL is an .xcdatamodeld, an .xcdatamodel, a store, a compiled model, or a mapping
        model (.xcmappingmodel). FILE ends in .momd for all versions, in .mom for the current
        version only, or in .cdm for a mapping model.
        Example: roster model compile App.xcdatamodeld -o App.momd
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try ModelCompileCommand(path: arguments.operands[0], output: arguments.required(Flags.output))
            .run(in: surroundings)
        return .done
    }
}
