import CoreData
import Foundation

/// A memory measurement in a separate process of this program.
struct MemoryProbe {
    static let argument = "--memory-probe"

    enum Kind: String {
        /// Does nothing: the memory of the program itself.
        case nothing
        /// Opens the list with its cache and shows the first screen: peak memory.
        case open
        /// Shows and releases 1,000 random pages of the list: remaining memory.
        case walk
        /// Migrates the store with a manager and a policy: peak memory.
        case migrate
        /// Inserts a batch of as many rows as the store's name contains: peak memory.
        case batch
    }

    let kind: Kind
    let url: URL

    init(kind: Kind, url: URL) {
        self.kind = kind
        self.url = url
    }

    init(_ rest: inout ArraySlice<String>) throws {
        guard let name = rest.popFirst(), let kind = Kind(rawValue: name), let path = rest.popFirst() else {
            throw Options.Failure(description: "\(Self.argument) wants a kind and a store")
        }
        self.init(kind: kind, url: URL(fileURLWithPath: path))
    }

    /// Starts the process and waits for it.
    ///
    /// - Returns: Memory in bytes.
    func measure() throws -> Double {
        let output = try ChildProcess.run([Self.argument, kind.rawValue, url.path], output: Pipe())
        guard let bytes = Double(output.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Options.Failure(description: "the probe of memory said \(output)")
        }
        return bytes
    }

    /// Runs in the started process.
    @MainActor func run() throws {
        switch kind {
        case .nothing: print(Memory.peak)
        case .migrate:
            try MigrationWorkload.migrate(url)
            print(Memory.peak)
        case .batch:
            let stack = try League.Stack(url)
            try stack.context.execute(
                BatchWorkload.insertion(of: Int(url.deletingPathExtension().pathExtension) ?? 0))
            print(Memory.peak)
        case .open:
            let stack = try League.Stack(url)
            try OpenWorkload.showFirstScreen(stack)
            print(Memory.peak)
        case .walk:
            let stack = try League.Stack(url)
            let controller = try stack.list()
            try controller.performFetch()
            let sections = controller.sections ?? []
            var random = SeededRandom(seed: 21)
            for _ in 0..<1_000 {
                let section = random.below(sections.count)
                for row in 0..<min(50, sections[section].numberOfObjects) {
                    _ = controller.object(at: IndexPath(row: row, section: section)).wins
                }
            }
            print(Memory.resident)
        }
    }
}
