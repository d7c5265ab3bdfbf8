import Foundation

/// Records changes in groups, and undoes and redoes them. Foundation on Linux has no undo manager.
///
/// Changes made during an undo are recorded for redo, and vice versa. Used by one thread at a time. With
/// `groupsByEvent`, the first registration opens a group, which ends at an undo and, on the main thread, at the end
/// of the main queue's turn.
// SAFETY: used by one thread at a time, on the context's queue; only the main thread waits for the end of its turn.
open class UndoManager: NSObject, @unchecked Sendable {
    private var undoStack: [UndoGroup] = []
    private var redoStack: [UndoGroup] = []
    /// The open groups, outermost first.
    private var open: [UndoGroup] = []
    private var outermostIsAutomatic = false
    private var disabledCount = 0
    /// Added and removed on any thread, under the lock.
    private var listeners: [Listener] = []
    private let listenerLock = NSLock()

    public override init() {}

    // MARK: Checkpoints

    private struct Listener {
        weak var value: (any UndoCheckpointListener)?
    }

    /// Adds `listener`, which is not retained. It is called at each checkpoint before the notification is posted.
    func add(_ listener: any UndoCheckpointListener) {
        remove(listener)
        listenerLock.withLock { listeners.append(Listener(value: listener)) }
    }

    /// Removes a listener.
    func remove(_ listener: any UndoCheckpointListener) {
        listenerLock.withLock { listeners.removeAll { $0.value == nil || $0.value === listener } }
    }

    /// Assigns the changes so far to the present groups.
    private func reachCheckpoint() {
        for listener in listenerLock.withLock({ listeners }) { listener.value?.undoManagerReachedCheckpoint() }
        post(.NSUndoManagerCheckpoint)
    }

    // MARK: Groups

    /// The number of open groups.
    open var groupingLevel: Int { open.count }

    /// True if a registration opens a group when none is open. `true` by default.
    open var groupsByEvent = true

    /// Opens a group, nested in the open one if any.
    open func beginUndoGrouping() {
        reachCheckpoint()
        open.append(UndoGroup())
        post(.NSUndoManagerDidOpenUndoGroup)
    }

    /// Closes the innermost open group.
    ///
    /// - Precondition: A group is open.
    open func endUndoGrouping() {
        precondition(!open.isEmpty, "endUndoGrouping called with no matching begin")
        reachCheckpoint()
        post(.NSUndoManagerWillCloseUndoGroup)
        closeGroup()
        post(.NSUndoManagerDidCloseUndoGroup)
    }

    private func closeGroup() {
        guard let group = open.popLast() else { return }
        if open.isEmpty { outermostIsAutomatic = false }
        guard !group.isEmpty else { return }
        if let outer = open.last {
            outer.add(group)
        } else if isUndoing {
            redoStack.append(group)
        } else {
            undoStack.append(group)
            trim()
        }
    }

    /// Ends the automatically opened group, if no other is open.
    func closeAutomaticGroup() {
        if outermostIsAutomatic, open.count == 1 { endUndoGrouping() }
    }

    private func openAutomaticGroup() {
        beginUndoGrouping()
        outermostIsAutomatic = true
        guard Thread.isMainThread else { return }
        let manager = UncheckedSendable(self)
        DispatchQueue.main.async { [weak target = manager.value] in target?.closeAutomaticGroup() }
    }

    /// Maximum number of groups that can be undone; 0, the default, means no limit.
    open var levelsOfUndo = 0 { didSet { trim() } }

    private func trim() {
        guard levelsOfUndo > 0 else { return }
        if undoStack.count > levelsOfUndo { undoStack.removeFirst(undoStack.count - levelsOfUndo) }
        if redoStack.count > levelsOfUndo { redoStack.removeFirst(redoStack.count - levelsOfUndo) }
    }

    // MARK: Registering

    /// True if registrations are recorded.
    open var isUndoRegistrationEnabled: Bool { disabledCount == 0 }

    /// Ignores registrations until `enableUndoRegistration()` has been called as often.
    open func disableUndoRegistration() { disabledCount += 1 }

    /// - Precondition: Registration is disabled.
    open func enableUndoRegistration() {
        precondition(disabledCount > 0, "enableUndoRegistration called without a matching disableUndoRegistration")
        disabledCount -= 1
    }

    /// Records how to undo one change.
    ///
    /// - Parameters:
    ///   - target: the owner of the change. Not retained: without it nothing can be undone.
    ///   - handler: undoes the change, and registers its redo.
    public final func registerUndo<Target: AnyObject>(withTarget target: Target, handler: @escaping (Target) -> Void) {
        guard isUndoRegistrationEnabled else { return }
        if open.isEmpty {
            precondition(groupsByEvent, "must begin a group before registering undo")
            openAutomaticGroup()
        }
        if !isUndoing, !isRedoing { redoStack = [] }
        open.last?.add(UndoAction(target: target) { [weak target] in if let target { handler(target) } })
    }

    // MARK: Undoing

    /// True while `undo()` or `undoNestedGroup()` runs.
    open private(set) var isUndoing = false
    /// True while `redo()` runs.
    open private(set) var isRedoing = false

    /// True if `undo()` has something to undo.
    open var canUndo: Bool { !undoStack.isEmpty || (open.count == 1 && open.last?.isEmpty == false) }
    /// True if `redo()` has something to redo. Posts a checkpoint first.
    open var canRedo: Bool {
        reachCheckpoint()
        return !redoStack.isEmpty
    }

    /// Closes the open group, if any, and undoes the last group. Posts a checkpoint first.
    open func undo() {
        reachCheckpoint()
        if open.count == 1 { endUndoGrouping() }
        undoNestedGroup()
    }

    /// Undoes the last group. Posts a checkpoint first.
    ///
    /// - Precondition: No group is open.
    open func undoNestedGroup() {
        reachCheckpoint()
        precondition(open.isEmpty, "undo was called with too many nested undo groups")
        guard let group = undoStack.popLast() else { return }
        post(.NSUndoManagerWillUndoChange)
        isUndoing = true
        replay(group)
        isUndoing = false
        post(.NSUndoManagerDidUndoChange)
    }

    /// Redoes the last undone group. Posts a checkpoint first.
    ///
    /// - Precondition: No group is open.
    open func redo() {
        reachCheckpoint()
        closeAutomaticGroup()
        precondition(open.isEmpty, "redo was called while an undo group is open")
        guard let group = redoStack.popLast() else { return }
        post(.NSUndoManagerWillRedoChange)
        isRedoing = true
        replay(group)
        isRedoing = false
        post(.NSUndoManagerDidRedoChange)
    }

    private func replay(_ group: UndoGroup) {
        beginUndoGrouping()
        open.last?.actionName = group.actionName
        group.run()
        endUndoGrouping()
    }

    /// Removes all recorded changes.
    open func removeAllActions() {
        undoStack = []
        redoStack = []
        open = []
        outermostIsAutomatic = false
        disabledCount = 0
    }

    /// Removes the recorded changes of one target.
    open func removeAllActions(withTarget target: Any) {
        let target = target as AnyObject
        for group in undoStack + redoStack + open { group.removeActions(of: target) }
        undoStack.removeAll(where: \.isEmpty)
        redoStack.removeAll(where: \.isEmpty)
    }

    // MARK: Names

    /// Names the action of the open group, or of the last one.
    open func setActionName(_ actionName: String) {
        (open.first ?? (isUndoing ? redoStack.last : undoStack.last))?.actionName = actionName
    }

    /// The name of the action that `undo()` undoes; empty if it has no name.
    open var undoActionName: String { (open.first ?? undoStack.last)?.actionName ?? "" }
    /// The name of the action that `redo()` redoes; empty if it has no name.
    open var redoActionName: String { redoStack.last?.actionName ?? "" }
    /// The title of a menu item for `undo()`, with the action's name.
    open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
    /// The title of a menu item for `redo()`, with the action's name.
    open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

    /// The title of a menu item that undoes an action of that name.
    open func undoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Undo" : "Undo \(actionName)"
    }

    /// The title of a menu item that redoes an action of that name.
    open func redoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Redo" : "Redo \(actionName)"
    }

    private func post(_ name: Notification.Name) { NotificationCenter.default.post(name: name, object: self) }
}

/// An object with changes that an undo manager does not have yet.
protocol UndoCheckpointListener: AnyObject {
    /// Registers these changes: a group is about to be opened, closed, undone or redone.
    func undoManagerReachedCheckpoint()
}

extension NSNotification.Name {
    /// An undo manager (the object) checks `canRedo`, undoes, redoes, opens or closes a group.
    public static let NSUndoManagerCheckpoint = NSNotification.Name("NSUndoManagerCheckpointNotification")
    /// An undo manager (the object) is about to undo a group.
    public static let NSUndoManagerWillUndoChange = NSNotification.Name("NSUndoManagerWillUndoChangeNotification")
    /// An undo manager (the object) is about to redo a group.
    public static let NSUndoManagerWillRedoChange = NSNotification.Name("NSUndoManagerWillRedoChangeNotification")
    /// An undo manager (the object) undid a group.
    public static let NSUndoManagerDidUndoChange = NSNotification.Name("NSUndoManagerDidUndoChangeNotification")
    /// An undo manager (the object) redid a group.
    public static let NSUndoManagerDidRedoChange = NSNotification.Name("NSUndoManagerDidRedoChangeNotification")
    /// An undo manager (the object) opened a group.
    public static let NSUndoManagerDidOpenUndoGroup = NSNotification.Name("NSUndoManagerDidOpenUndoGroupNotification")
    /// An undo manager (the object) is about to close a group.
    public static let NSUndoManagerWillCloseUndoGroup = NSNotification.Name(
        "NSUndoManagerWillCloseUndoGroupNotification")
    /// An undo manager (the object) closed a group.
    public static let NSUndoManagerDidCloseUndoGroup = NSNotification.Name("NSUndoManagerDidCloseUndoGroupNotification")
}
