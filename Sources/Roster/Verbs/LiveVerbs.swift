import Foundation
import RosterCommands
import Translation

enum WatchVerb: CommandVerb {
    static let name = "watch"
    static let summary = "Print how a list changes while other programs change the store."
    static let operands: [Operand] = [.store, .entity]
    static let flags: [any CommandFlag] = [
        Flags.section, Flags.sort, Flags.where, Flags.limit, Flags.offset, Flags.sum,
        Flags.average, Flags.minimum, Flags.maximum, Flags.once, Flags.timeout, Flags.format,
        Flags.model, Flags.replay, Flags.since, Flags.filmRate,
    ]
    static let notes = """
        Prints one line per callback of the results controller. Ctrl-C stops it. --replay
        repeats past transactions one by one: records appear and disappear as they did then,
        with their current values.
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        let query = RecordQuery(
            predicate: try arguments.value(Flags.where), sort: try arguments.value(Flags.sort) ?? [],
            section: try arguments.value(Flags.section), limit: try arguments.value(Flags.limit) ?? 0,
            offset: try arguments.value(Flags.offset) ?? 0, aggregates: try arguments.aggregates)
        if arguments.has(Flags.replay) {
            guard !arguments.has(Flags.once), try arguments.value(Flags.timeout) == nil else {
                throw CommandError.misuse("--once and --timeout are not valid with --replay")
            }
            guard query.limit == 0, query.offset == 0, query.aggregates.isEmpty else {
                throw CommandError.misuse(
                    "--limit, --offset, --sum, --avg, --min and --max are not valid with --replay")
            }
            try ReplayCommand(
                store: arguments.store, entity: arguments.operands[1], query: query,
                since: arguments.value(Flags.since), rate: arguments.value(Flags.filmRate),
                format: arguments.value(Flags.format) ?? .table
            ).run(in: surroundings)
            return .done
        }
        guard try arguments.value(Flags.since) == nil, try arguments.value(Flags.filmRate) == nil else {
            throw CommandError.misuse("--since and --rate are only valid with --replay")
        }
        try WatchCommand(
            store: arguments.store, entity: arguments.operands[1], query: query, once: arguments.has(Flags.once),
            timeout: arguments.value(Flags.timeout), format: arguments.value(Flags.format) ?? .table
        ).run(in: surroundings)
        return .done
    }
}

enum SimulateVerb: CommandVerb {
    static let name = "simulate"
    static let summary = "Play random matches between the teams of a store, one transaction per match."
    static let operands: [Operand] = [.store]
    static let flags: [any CommandFlag] = [Flags.rate, Flags.count, Flags.seed, Flags.model]
    static let notes = """
        The teams are the records of the first entity that has the integer attributes wins,
        draws, losses, goalsFor and goalsAgainst.
        """

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        try SimulateCommand(
            store: arguments.store, rate: arguments.value(Flags.rate),
            count: arguments.value(Flags.count) ?? SimulateCommand.defaultCount, seed: arguments.value(Flags.seed)
        ).run(in: surroundings)
        return .done
    }
}

/// The terminal program, which `roster` runs without a verb.
enum BrowseVerb: CommandVerb {
    static let name = ""
    static let summary = "Browse and edit a store in the terminal. Default: the World Cup sample."
    static let operands = [Operand(name: "STORE", isOptional: true, completion: .stores)]
    static let flags: [any CommandFlag] = [
        Flags.entity, Flags.section, Flags.sort, Flags.where, Flags.pick, Flags.null,
        Flags.readOnly, Flags.delimiter, Flags.format, Flags.model,
    ]
    static let notes = """
        Without STORE, or if STORE is -, records piped to standard input (JSON, CSV or TSV)
        are shown in a temporary store; so are those of a .json, .jsonl, .csv or .tsv file.
        An SQLite file of another program is read: its tables are entities.
        Example: roster App.sqlite --entity Person --pick=email --null | xargs -0 -n1 mail -s Hello
        """
    static let stopsCleanly = false

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        // Checked before the screen opens, so that an error is one line on standard error.
        let sort = try arguments.value(Flags.sort)
        let pipe = try pipedRecords(arguments, in: surroundings)
        defer { if let pipe { try? FileManager.default.removeItem(at: pipe.folder) } }
        var options = try pipe.map { try Self.options(for: $0, arguments) } ?? Self.options(for: arguments)
        options.pick = try arguments.value(Flags.pick).map {
            PickRequest($0, endsWithNull: arguments.has(Flags.null))
        }
        guard options.pick != nil || !arguments.has(Flags.null) else {
            throw CommandError.misuse("--null is only valid with --pick")
        }
        options.usesOwnTerminal = pipe != nil || options.pick != nil
        options.modelURL = try arguments.value(Flags.model).map { URL(fileURLWithPath: $0) }
        options.sortKeys =
            sort?.map { $0.keyPath + ($0.ascending ? "" : ":desc") }.joined(separator: ",")
            ?? options.sortKeys
        options.predicate = try arguments.value(Flags.where)
        options.isReadOnly = arguments.has(Flags.readOnly)
        let columns = options.preferences.entities
        options.preferences = Preferences.load()
        options.preferences.add(columns)
        for problem in options.preferences.problems { surroundings.note(problem.message) }
        if sort != nil || options.predicate != nil { options.isSuggestion = false }
        options.stateFolder = pipe == nil ? BrowserStateFile.userFolder : nil
        return ExitStatus(code: try runTerminalProgram(options))
    }

    /// Reads the records of standard input if the operand is `-`, or of a file that the operand names. Without operands,
    /// reads standard input if it is a pipe, file or nonempty socket and the process has a terminal; otherwise returns `nil`.
    /// - Throws: ``CommandError`` of failure if there are no records.
    private static func pipedRecords(
        _ arguments: Arguments, in surroundings: CommandSurroundings
    ) throws -> TemporaryStore? {
        if let path = arguments.operands.first, path != "-" { return try recordsOfFile(path, arguments, surroundings) }
        var status = stat()
        let isPipe =
            fstat(STDIN_FILENO, &status) == 0 && [S_IFIFO, S_IFREG, S_IFSOCK].contains(status.st_mode & S_IFMT)
        let isNamed = arguments.operands.first == "-"
        guard isNamed || arguments.operands.isEmpty && isPipe && TerminalRedirection.isPossible else { return nil }
        do {
            return try TemporaryStore(
                reading: "-", format: arguments.value(Flags.format), delimiter: arguments.value(Flags.delimiter),
                below: FileManager.default.temporaryDirectory, in: surroundings)
        } catch is TemporaryStore.Empty {
            // Some programs give each process they start a socket as standard input. An empty one is not the user's data.
            if !isNamed, status.st_mode & S_IFMT == S_IFSOCK { return nil }
            throw CommandError.failure("standard input has no records")
        }
    }

    /// Reads the records of a file of JSON, CSV or TSV; `nil` for any other file, such as a store of that name.
    private static func recordsOfFile(
        _ path: String, _ arguments: Arguments, _ surroundings: CommandSurroundings
    ) throws -> TemporaryStore? {
        guard TemporaryStore.isFileOfRecords(path, format: try arguments.value(Flags.format)) else { return nil }
        do {
            return try TemporaryStore(
                reading: path, format: arguments.value(Flags.format), delimiter: arguments.value(Flags.delimiter),
                below: FileManager.default.temporaryDirectory, in: surroundings)
        } catch is TemporaryStore.Empty {
            throw CommandError.failure("\(path): no records")
        }
    }

    private static func options(for pipe: TemporaryStore, _ arguments: Arguments) throws -> BrowserOptions {
        let file = arguments.operands.first.flatMap { $0 == "-" ? nil : $0 }
        let source = file.map { URL(fileURLWithPath: $0).lastPathComponent } ?? tr("standard input")
        if let entity = try arguments.value(Flags.entity), entity != TemporaryStore.entity {
            throw CommandError.misuse(
                "no entity “\(entity)”: the only entity of \(source) is \(TemporaryStore.entity)")
        }
        var options = BrowserOptions(
            storeURL: pipe.store, entityName: TemporaryStore.entity,
            sectionKeyPath: try arguments.value(Flags.section), sortKeys: TemporaryStore.rowKey)
        let counted = CountedNoun.text(pipe.count, "record")
        options.welcome =
            pipe.hasLineOfKeys
            ? sentence("\(counted) read from \(source), columns named by the first line; :export FILE saves them")
            : sentence("\(counted) read from \(source); :export FILE saves them")
        options.preferences = Preferences(columns: pipe.keys, ofEntity: TemporaryStore.entity)
        return options
    }

    private static func options(for arguments: Arguments) throws -> BrowserOptions {
        let entity = try arguments.value(Flags.entity)
        let section = try arguments.value(Flags.section)
        guard let store = arguments.operands.first else {
            let isDefault = entity == nil || entity == SampleStore.entity
            var options = BrowserOptions(
                storeURL: try SampleStore.copy(), entityName: entity ?? SampleStore.entity,
                sectionKeyPath: section ?? (isDefault ? SampleStore.section : nil),
                sortKeys: isDefault ? SampleStore.sort : nil)
            options.isSuggestion = entity == nil && section == nil
            return options
        }
        let url = try StoreLocation(store: store).storeURL()
        guard !url.isFileURL || FileManager.default.fileExists(atPath: url.path) else {
            throw CommandError.failure("\(store) is neither an existing store nor a verb")
        }
        return BrowserOptions(storeURL: url, entityName: entity, sectionKeyPath: section)
    }
}
