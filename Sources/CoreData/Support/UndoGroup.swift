/// One recorded change and the closure that undoes it.
struct UndoAction {
    /// The owner of the change, for comparison only.
    private let target: ObjectIdentifier
    let run: () -> Void

    init(target: AnyObject, run: @escaping () -> Void) {
        self.target = ObjectIdentifier(target)
        self.run = run
    }

    func belongs(to other: AnyObject) -> Bool { target == ObjectIdentifier(other) }
}

/// Changes that are undone together, last first. A nested group counts as one change.
final class UndoGroup {
    private enum Entry {
        case action(UndoAction)
        case group(UndoGroup)
    }

    private var entries: [Entry] = []
    var actionName = ""

    var isEmpty: Bool { entries.isEmpty }

    func add(_ action: UndoAction) { entries.append(.action(action)) }

    func add(_ group: UndoGroup) {
        if actionName.isEmpty { actionName = group.actionName }
        entries.append(.group(group))
    }

    func run() {
        for entry in entries.reversed() {
            switch entry {
            case .action(let action): action.run()
            case .group(let group): group.run()
            }
        }
    }

    func removeActions(of target: AnyObject) {
        entries.removeAll { entry in
            switch entry {
            case .action(let action): return action.belongs(to: target)
            case .group(let group):
                group.removeActions(of: target)
                return group.isEmpty
            }
        }
    }
}
