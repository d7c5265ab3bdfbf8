import Foundation
import RosterCommands

enum DemoVerb: CommandVerb {
    static let name = "demo"
    static let summary = "Open the World Cup sample, with hints, while a simulated writer changes it."
    static let operands: [Operand] = []
    static let flags: [any CommandFlag] = [Flags.rate, Flags.seed]
    static let notes = """
        The store is a temporary copy that is deleted at the end. A second coordinator saves
        one transaction per match, as another program would.
        """
    static let stopsCleanly = false

    /// Matches per second.
    private static let rate = 2.0

    static func run(_ arguments: Arguments, in surroundings: CommandSurroundings) throws -> ExitStatus {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("roster-demo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = folder.appendingPathComponent("WorldCup.sqlite")
        try SampleStore.make(at: store)
        var options = BrowserOptions(
            storeURL: store, entityName: SampleStore.entity, sectionKeyPath: SampleStore.section,
            sortKeys: SampleStore.sort)
        options.preferences = Preferences.load()
        options.showsCallbacks = true
        options.notes = advice
        let season = try SimulateCommand(
            store: StoreLocation(store: store.path), rate: arguments.value(Flags.rate) ?? rate, count: Int.max,
            seed: arguments.value(Flags.seed))
        options.companion = { try season.run(in: $0) }
        return ExitStatus(code: try runTerminalProgram(options))
    }

    static let advice = [
        "This list is live: a second writer plays two matches per second. Rows move; the cursor stays on its record.",
        "j k move · [ ] sections · za fold · Enter open · / find · \\ filter · s sort · gb histogram · gm model · ? all keys",
        "The pane below shows the callbacks of the results controller. q quits; your files are not touched.",
    ]
}
