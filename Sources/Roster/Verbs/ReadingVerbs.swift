import RosterCommands

/// Operands that several verbs have.
extension Operand {
    static let store = Operand(name: "STORE", completion: .stores)
    static let entity = Operand(name: "ENTITY", completion: .entities)
}

extension Arguments {
    /// The store of the first operand, with the model that `--model` names.
    var store: StoreLocation {
        get throws { StoreLocation(store: operands[0], model: try value(ModelFlag.self)) }
    }
}

enum ListVerb: CommandVerb {
    static let name = "list"
    static let summary = "Print the records of an entity, in sections where asked for."
    static let operands: [Operand] = [.store, .entity]
    static let flags: [any CommandFlag.Type] = [
        SectionFlag.self, SortFlag.self, WhereFlag.self, LimitFlag.self, OffsetFlag.self, ColumnsFlag.self,
        SectionsOnlyFlag.self, SumFlag.self, AverageFlag.self, MinimumFlag.self, MaximumFlag.self, FormatFlag.self,
        ModelFlag.self,
    ]
    static let notes = """
        Without --sort the records come in the order in which the store keeps them.
        Example: roster list WorldCup.sqlite Team --section qualifyingZone --sort wins:desc,teamName
        Example: roster list WorldCup.sqlite Venue --section opened:year --sections-only --sum capacity
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        let query = RecordQuery(
            predicate: try arguments.value(WhereFlag.self), sort: try arguments.value(SortFlag.self) ?? [],
            section: try arguments.value(SectionFlag.self), limit: try arguments.value(LimitFlag.self) ?? 0,
            offset: try arguments.value(OffsetFlag.self) ?? 0, aggregates: try arguments.aggregates)
        try ListCommand(
            store: arguments.store, entity: arguments.operands[1], query: query,
            columns: arguments.value(ColumnsFlag.self), sectionsOnly: arguments.has(SectionsOnlyFlag.self),
            format: arguments.value(FormatFlag.self) ?? .table
        ).run(in: surroundings)
        return .done
    }
}

enum ShowVerb: CommandVerb {
    static let name = "show"
    static let summary = "Print one record with its relationships."
    static let operands: [Operand] = [.store, Operand(name: "OBJECT", completion: .object)]
    static let flags: [any CommandFlag.Type] = [FormatFlag.self, ModelFlag.self]
    static let notes = "OBJECT is a URI (x-coredata://…), Entity/p12, or Entity:KEY with the value of the unique key."

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try ShowCommand(
            store: arguments.store, object: arguments.operands[1], format: arguments.value(FormatFlag.self) ?? .table
        ).run(in: surroundings)
        return .done
    }
}

enum CountVerb: CommandVerb {
    static let name = "count"
    static let summary = "Print how many records there are."
    static let operands: [Operand] = [.store, .entity]
    static let flags: [any CommandFlag.Type] = [WhereFlag.self, ModelFlag.self]

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try CountCommand(
            store: arguments.store, entity: arguments.operands[1], predicate: arguments.value(WhereFlag.self)
        ).run(in: surroundings)
        return .done
    }
}

enum ExportVerb: CommandVerb {
    static let name = "export"
    static let summary = "Write records as text that import reads back; without FILE to standard output."
    static let operands: [Operand] = [.store, .entity, Operand(name: "FILE", isOptional: true, completion: .files)]
    static let flags: [any CommandFlag.Type] = [
        WhereFlag.self, SortFlag.self, ColumnsFlag.self, FormatFlag.self, ModelFlag.self,
    ]
    static let notes = """
        Without --format the end of FILE's name tells it (.json .csv .tsv); else it is json.
        Status 1 also where all is written, but values are missing that the store has and that cannot be read: their files, classes or
        transformers are not here. Standard error names the first.
        """
    static let stopsCleanly = true

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        let query = RecordQuery(
            predicate: try arguments.value(WhereFlag.self), sort: try arguments.value(SortFlag.self) ?? [])
        let outcome = try ExportCommand(
            store: arguments.store, entity: arguments.operands[1],
            file: arguments.operands.count > 2 ? arguments.operands[2] : nil, query: query,
            columns: arguments.value(ColumnsFlag.self), format: arguments.value(FormatFlag.self)
        ).run(in: surroundings)
        if let missing = outcome.missing {
            throw CommandError.failure("the records are written, but \(missing)")
        }
        return .done
    }
}

enum ModelVerb: CommandVerb {
    static let name = "model"
    static let summary = "Print the model of a store or of a model's file: text, data, source or diagram."
    static let operands = [Operand(name: "STORE|MODEL", completion: .files)]
    static let flags: [any CommandFlag.Type] = [ModelFormatFlag.self, OutputFlag.self]
    static let notes = """
        MODEL is .xcdatamodeld, .xcdatamodel, .momd or .mom. Without --format the end of the
        output's name tells it (.xcdatamodel .xcdatamodeld .json .dot .mmd); else it is text.
        A store of an old framework keeps no model: it is inferred from the tables.
        Example: roster model App.sqlite --format xcdatamodel -o App.xcdatamodeld
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try ModelCommand(
            path: arguments.operands[0], format: arguments.value(ModelFormatFlag.self),
            output: arguments.value(OutputFlag.self)
        ).run(in: surroundings)
        return .done
    }
}

enum ModelCompileVerb: CommandVerb {
    static let name = "model compile"
    static let summary = "Compile a source model, with all its versions, to the form that programs load."
    static let operands = [Operand(name: "MODEL", completion: .files)]
    static let flags: [any CommandFlag.Type] = [OutputFlag.self]
    static let requiredFlags: [any CommandFlag.Type] = [OutputFlag.self]
    static let notes = """
        MODEL is an .xcdatamodeld, an .xcdatamodel, or a mapping model (.xcmappingmodel),
        which becomes a .cdm; of a store or a compiled model its one
        version is written. FILE ends in .momd, or in .mom for the current version alone.
        Example: roster model compile App.xcdatamodeld -o App.momd
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try ModelCompileCommand(path: arguments.operands[0], output: arguments.required(OutputFlag.self))
            .run(in: surroundings)
        return .done
    }
}
