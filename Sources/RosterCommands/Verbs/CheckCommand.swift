import CoreData
import Foundation
import Translation

/// `check`: prints errors in a store's file and repairs them if asked for.
public struct CheckCommand {
    /// Location of the store and its model.
    public var store: StoreLocation
    /// True to repair the findings.
    public var repairs: Bool
    /// Format of the output.
    public var format: OutputFormat

    /// Creates the command; see the properties.
    public init(store: StoreLocation, repairs: Bool = false, format: OutputFormat = .table) {
        self.store = store
        self.repairs = repairs
        self.format = format
    }

    /// Prints one line for each finding. Before a repair, a copy of the store is made in the same folder.
    ///
    /// - Throws: ``CommandError`` of failure if errors remain, or an error of the framework.
    public func run(in surroundings: CommandSurroundings) throws {
        let findings = try self.findings(in: surroundings)
        guard !findings.isEmpty else {
            return try end("found no damage in \(try StorePlace(store.store).name)", surroundings)
        }
        for finding in findings { try print(finding, in: surroundings) }
        try surroundings.output.flush()
        let repairable = findings.count { $0.isRepairable }
        guard repairs, repairable > 0 else {
            let hint =
                repairable == 0 ? "" : sentence("; --repair copies the store and repairs \(repairable) of them")
            throw CommandError.failure("\(Self.count(findings.count)) in \(try StorePlace(store.store).name)\(hint)")
        }
        let copy = try StoreCopies.keepCopy(of: store.storeURL(), suffix: "before-repair")
        let session = try StoreSession(store, for: .writing, in: surroundings)
        let repaired = try session.coordinator.persistentStores.flatMap(session.coordinator.repair)
        try session.close()
        try end("repaired \(Self.count(repaired.count)); \(copy.path) is a copy from before the repair", surroundings)
        let left = try self.findings(in: surroundings)
        guard left.isEmpty else {
            let (name, first) = (try StorePlace(store.store).name, left[0].message)
            throw left.count == 1
                ? CommandError.failure("could not repair 1 finding in \(name): \(first)")
                : CommandError.failure("could not repair \(left.count) findings in \(name). First: \(first)")
        }
    }

    private func end(_ text: String, _ surroundings: CommandSurroundings) throws {
        if format == .table { try surroundings.output.write(VisibleText.shown(text) + "\n") }
        try surroundings.output.flush()
    }

    private static func count(_ count: Int) -> String { count == 1 ? tr("1 finding") : sentence("\(count) findings") }

    private func findings(in surroundings: CommandSurroundings) throws -> [PersistentStoreFinding] {
        let session = try StoreSession(store, for: .reading, in: surroundings)
        let findings = try session.coordinator.persistentStores.flatMap(session.coordinator.findings(in:))
        try session.close()
        return findings
    }

    private func print(_ finding: PersistentStoreFinding, in surroundings: CommandSurroundings) throws {
        switch format {
        case .json:
            let members: [(key: String, value: JSONValue)] = [
                ("kind", .string(finding.kind.rawValue)), ("message", .string(finding.message)),
                ("repairable", .bool(finding.isRepairable)),
            ]
            try surroundings.output.write(JSONValue.object(members).text + "\n")
        case .csv, .tsv:
            let text: DelimitedText = format == .csv ? .csv : .tsv
            try surroundings.output.write(text.line([finding.kind.rawValue, finding.message]))
        case .table: try surroundings.output.write(VisibleText.shown(finding.description) + "\n")
        }
    }
}
