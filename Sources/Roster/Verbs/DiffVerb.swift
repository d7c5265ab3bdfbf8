import Foundation
import RosterCommands
import Translation

enum DiffVerb: CommandVerb {
    static let name = "diff"
    static let summary = "Print the records that differ between two stores, with their old and new values."
    static let operands: [Operand] = [
        Operand(name: "STORE", completion: .stores), Operand(name: "OTHER", completion: .stores),
        Operand(name: "ENTITY", isOptional: true, completion: .entities),
    ]
    static let flags: [any CommandFlag] = [Flags.open, Flags.format, Flags.model]
    static let notes = """
        + is only in OTHER, − only in STORE, ~ differs. Records with the same unique key are compared, and of entities
        without one those with the same number (Entity/p12); a related record counts by its key. The stores may be of
        different types and models.
        Status 0: no difference; 1: they differ; 2: they could not be compared, and standard error says why.
        Example: roster diff before.sqlite after.sqlite Team --format csv
        """

    static func status(for error: any Error) -> ExitStatus { .trouble }

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        let format = try arguments.value(Flags.format)
        var command = try DiffCommand(
            old: arguments.store, new: StoreLocation(store: arguments.operands[1], model: arguments.value(Flags.model)),
            entity: arguments.operands.count > 2 ? arguments.operands[2] : nil, format: format ?? .table)
        guard arguments.has(Flags.open) else {
            return try command.run(in: surroundings) == 0 ? .done : .different
        }
        guard format == nil else { throw CommandError.misuse("--open shows the differences; --format prints them") }
        command.format = .csv
        return try open(command, in: surroundings)
    }

    /// Shows the differences as records of a store of their own.
    private static func open(_ command: DiffCommand, in surroundings: CommandSurroundings) throws -> ExitStatus {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("roster-diff-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("differences.csv").path
        let output = try FileOutput(OutputPlace(file))
        let count = try command.run(
            in: CommandSurroundings(
                output: output, progress: surroundings.progress, interruption: surroundings.interruption,
                textStyle: surroundings.textStyle, note: surroundings.note))
        try output.finish()
        guard count > 0 else {
            surroundings.note(tr("the stores do not differ"))
            return .done
        }
        let list = try TemporaryStore(reading: file, format: .csv, below: folder, in: surroundings)
        var options = BrowserOptions(
            storeURL: list.store, entityName: TemporaryStore.entity, sectionKeyPath: "change",
            sortKeys: TemporaryStore.rowKey, isReadOnly: true, preferences: Preferences.load())
        options.preferences.add(Preferences(columns: list.keys, ofEntity: TemporaryStore.entity).entities)
        options.usesOwnTerminal = true
        options.welcome = sentence(
            "\(CountedNoun.text(count, "difference")) of \(command.old.store) and \(command.new.store)")
        let status = try runTerminalProgram(options)
        return status == 0 ? .different : ExitStatus(code: status)
    }
}

extension Flags {
    static let open = Flag<Bool>("open", help: "Show the differences as a list in the terminal program.")
}
