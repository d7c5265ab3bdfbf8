import CoreData
import Foundation
import RosterCommands
import Synchronization

/// Writes the records of a list to a file beside the event loop. It reads what is saved, through a container of its own.
final class BackgroundExport: ProgressDisplay, Interruption, Sendable {
    private struct State {
        var isRaised = false
        var progress = ""
        var fraction: Double?
    }

    let file: String
    private let state = Mutex(State())

    init(file: String) { self.file = file }

    /// What has been done so far: `export 40 %`.
    var progress: String {
        state.withLock { state in
            let share = state.fraction.map { "\(Int($0 * 100)) %" } ?? ""
            return "export \(share)"
        }
    }

    /// Ends the work at the next record; then no file is written.
    func stop() { state.withLock { $0.isRaised = true } }

    /// Begins.
    ///
    /// - Parameter finish: called on the main queue with what went wrong, `nil` where nothing did.
    func run(
        _ settings: ListSettings, of entity: NSEntityDescription, store: URL, modelURL: URL?,
        finish: @escaping (String?) -> Void
    ) {
        let sort = settings.allSortKeys.map { SortKey(keyPath: $0.keyPath, ascending: $0.isAscending) }
        let command = ExportCommand(
            store: StoreLocation(store: store.path, model: modelURL?.path), entity: entity.name ?? "", file: file,
            query: RecordQuery(predicate: settings.filter.isEmpty ? nil : settings.filter, sort: sort))
        // The one is used by the new thread alone, the other called on the main thread, which made it.
        nonisolated(unsafe) let work = command
        nonisolated(unsafe) let finish = finish
        let thread = Thread { [self] in
            let surroundings = CommandSurroundings(
                output: NoOutput(), progress: self, interruption: self,
                textStyle: TextStyle(columns: nil, isEmphasized: false, width: { $0.count }))
            var problem: String?
            do { try work.run(in: surroundings) } catch { problem = CommandError.line(for: error) }
            let result = problem
            DispatchQueue.main.async { finish(result) }
        }
        thread.stackSize = 4 << 20
        thread.start()
    }

    // MARK: What the command asks

    func report(fraction: Double?, _ text: @autoclosure () -> String) { state.withLock { $0.fraction = fraction } }

    func end() {}

    var isRaised: Bool { state.withLock { $0.isRaised } }

    func wait(until date: Date) { Thread.sleep(until: date) }

    func whenRaised(_ action: @escaping @Sendable @MainActor () -> Void) {}
}

/// The records go to a file: nothing is written here.
private final class NoOutput: TextOutput {
    func write(_ text: String) throws {}
    func flush() throws {}
}
