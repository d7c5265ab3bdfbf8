import Foundation

/// Runs the chosen workloads one after the other, each in its own process and folder.
struct Suite {
    let options: Options

    private typealias Workload = (name: String, run: @MainActor (Stage) throws -> Void)

    private static let all: [Workload] = files + servers

    #if PostgreSQL
        private static let servers: [Workload] = [
            ("server", { try ServerWorkload(stage: $0).run() }),
            ("writers", { try ServerWritersWorkload(stage: $0).run() }),
        ]
    #else
        private static let servers: [Workload] = []
    #endif

    private static let files: [Workload] = [
        ("insert", { try InsertWorkload(stage: $0).run() }),
        ("fetch", { try FetchWorkload(stage: $0).run() }),
        ("scroll", { try ScrollWorkload(stage: $0).run() }),
        ("change", { try ChangeWorkload(stage: $0).run() }),
        ("bulk", { try BulkWorkload(stage: $0).run() }),
        ("open", { try OpenWorkload(stage: $0).run() }),
        ("memory", { try MemoryWorkload(stage: $0).run() }),
        ("batch", { try BatchWorkload(stage: $0).run() }),
        ("aggregate", { try AggregateWorkload(stage: $0).run() }),
        ("cancel", { try CancelWorkload(stage: $0).run() }),
        ("migrate", { try MigrationWorkload(stage: $0).run() }),
        ("sections", { try SectionsWorkload(stage: $0).run() }),
        ("refetch", { try SectionsWorkload(stage: $0).runRefetch() }),
        ("follow", { try FollowWorkload(stage: $0).run() }),
        ("graph", { try GraphWorkload(stage: $0).run() }),
        ("objects", { try ObjectsWorkload(stage: $0).run() }),
    ]

    static var names: [String] { all.map(\.name) }

    @MainActor func run() throws {
        if options.isPart { return try runOne() }
        print("\(options.count) teams in \(options.sections) sections, \(options.rounds) rounds\n")
        Line.printHead()
        for name in Self.names where options.workloads.isEmpty || options.workloads.contains(name) {
            _ = try ChildProcess.run([name, Options.part] + options.sizes)
        }
    }

    @MainActor private func runOne() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("roster-measure-\(getpid())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        setenv("XDG_CACHE_HOME", folder.appendingPathComponent("caches").path, 1)
        let stage = Stage(options: options, folder: folder)
        for workload in Self.all where options.workloads.contains(workload.name) { try workload.run(stage) }
    }
}

/// Shared by the workloads: sizes, records, and stores that are filled once and then only read or copied.
@MainActor final class Stage {
    let options: Options
    let folder: URL
    private var stores: [String: URL] = [:]
    private var recordLists: [Int: [League.Record]] = [:]

    init(options: Options, folder: URL) {
        self.options = options
        self.folder = folder
    }

    var count: Int { options.count }
    var rounds: Int { options.rounds }

    func url(_ name: String) -> URL { folder.appendingPathComponent(name + ".sqlite") }

    func records(_ count: Int) -> [League.Record] {
        if let known = recordLists[count] { return known }
        let made = League.records(count, sections: min(options.sections, max(1, count / 4)))
        recordLists[count] = made
        return made
    }

    /// Returns a closed store of `count` teams.
    func filledStore(_ count: Int, isIndexed: Bool = true, keepsHistory: Bool = false) throws -> URL {
        let name = "teams-\(count)-\(isIndexed ? "indexed" : "plain")\(keepsHistory ? "-history" : "")"
        if let known = stores[name] { return known }
        let url = url(name)
        try StoreFilling(url: url, count: count, isIndexed: isIndexed, keepsHistory: keepsHistory).start(options)
        stores[name] = url
        return url
    }

    /// Copies a closed store.
    func copy(of url: URL, named name: String) throws -> URL {
        let copy = self.url(name)
        remove(copy)
        try FileManager.default.copyItem(at: url, to: copy)
        return copy
    }

    func remove(_ url: URL) {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
    }
}
