import Foundation

/// Records how to take changes back, in groups, and takes them back. Foundation has none on Linux.
///
/// Changes that are made while a group is undone are recorded for redo, and the other way round. Belongs to one thread at
/// a time. With `groupsByEvent` the first registration opens a group by itself, which ends when something is undone, and
/// on the main thread at the end of the main queue's turn.
// SAFETY: used by one thread at a time, the context's queue; the end of the turn is awaited on the main thread only.
open class UndoManager: NSObject, @unchecked Sendable {
    private var undoStack: [UndoGroup] = []
    private var redoStack: [UndoGroup] = []
    /// The groups that are open, outermost first.
    private var open: [UndoGroup] = []
    private var outermostIsAutomatic = false
    private var disabledCount = 0
    /// Added and removed on any thread; under the lock.
    private var listeners: [Listener] = []
    private let listenerLock = NSLock()

    public override init() {}

    // MARK: Checkpoints

    private struct Listener {
        weak var value: (any UndoCheckpointListener)?
    }

    /// Has `listener`, which is not retained, called at each checkpoint, before observers of the notification hear of it.
    func add(_ listener: any UndoCheckpointListener) {
        remove(listener)
        listenerLock.withLock { listeners.append(Listener(value: listener)) }
    }

    /// Ends what ``add(_:)`` began.
    func remove(_ listener: any UndoCheckpointListener) {
        listenerLock.withLock { listeners.removeAll { $0.value == nil || $0.value === listener } }
    }

    /// What was changed until now belongs to the groups as they are now.
    private func reachCheckpoint() {
        for listener in listenerLock.withLock({ listeners }) { listener.value?.undoManagerReachedCheckpoint() }
        post(.NSUndoManagerCheckpoint)
    }

    // MARK: Groups

    /// How many groups are open.
    open var groupingLevel: Int { open.count }

    /// Whether registering opens a group by itself where none is open. `true` by default.
    open var groupsByEvent = true

    /// Opens a group, within the one that is open if there is one.
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

    /// Ends the group that a registration opened by itself, if that is the only one open.
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

    /// The greatest number of groups that can be undone; 0, the default, means no limit.
    open var levelsOfUndo = 0 { didSet { trim() } }

    private func trim() {
        guard levelsOfUndo > 0 else { return }
        if undoStack.count > levelsOfUndo { undoStack.removeFirst(undoStack.count - levelsOfUndo) }
        if redoStack.count > levelsOfUndo { redoStack.removeFirst(redoStack.count - levelsOfUndo) }
    }

    // MARK: Registering

    /// Whether registrations count.
    open var isUndoRegistrationEnabled: Bool { disabledCount == 0 }

    /// Lets registrations be ignored, until `enableUndoRegistration()` was called as often.
    open func disableUndoRegistration() { disabledCount += 1 }

    /// - Precondition: Registration is disabled.
    open func enableUndoRegistration() {
        precondition(disabledCount > 0, "enableUndoRegistration called without a matching disableUndoRegistration")
        disabledCount -= 1
    }

    /// Records how to take one change back.
    ///
    /// - Parameters:
    ///   - target: Whose change it is. Not retained: without it, nothing is left to take back.
    ///   - handler: Takes the change back, and registers how to make it again.
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

    /// Whether `undo()` or `undoNestedGroup()` is at work.
    open private(set) var isUndoing = false
    /// Whether `redo()` is at work.
    open private(set) var isRedoing = false

    /// Whether there is something that `undo()` takes back.
    open var canUndo: Bool { !undoStack.isEmpty || (open.count == 1 && open.last?.isEmpty == false) }
    /// Whether there is something that `redo()` makes again. Posts a checkpoint first.
    open var canRedo: Bool {
        reachCheckpoint()
        return !redoStack.isEmpty
    }

    /// Closes the group that is open, if one is, and takes the last group back. Posts a checkpoint first.
    open func undo() {
        reachCheckpoint()
        if open.count == 1 { endUndoGrouping() }
        undoNestedGroup()
    }

    /// Takes the last group back. Posts a checkpoint first.
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

    /// Makes again what was last undone. Posts a checkpoint first.
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

    /// Forgets everything.
    open func removeAllActions() {
        undoStack = []
        redoStack = []
        open = []
        outermostIsAutomatic = false
        disabledCount = 0
    }

    /// Forgets the changes of one target.
    open func removeAllActions(withTarget target: Any) {
        let target = target as AnyObject
        for group in undoStack + redoStack + open { group.removeActions(of: target) }
        undoStack.removeAll(where: \.isEmpty)
        redoStack.removeAll(where: \.isEmpty)
    }

    // MARK: Names

    /// Names what the open group, or the last one, does.
    open func setActionName(_ actionName: String) {
        (open.first ?? (isUndoing ? redoStack.last : undoStack.last))?.actionName = actionName
    }

    /// What `undo()` would take back; empty if it has no name.
    open var undoActionName: String { (open.first ?? undoStack.last)?.actionName ?? "" }
    /// What `redo()` would make again; empty if it has no name.
    open var redoActionName: String { redoStack.last?.actionName ?? "" }
    /// The title of a menu item for `undo()`: the word with the action's name.
    open var undoMenuItemTitle: String { undoMenuTitle(forUndoActionName: undoActionName) }
    /// The title of a menu item for `redo()`: the word with the action's name.
    open var redoMenuItemTitle: String { redoMenuTitle(forUndoActionName: redoActionName) }

    /// The title of a menu item that takes an action of that name back.
    open func undoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Undo" : "Undo \(actionName)"
    }

    /// The title of a menu item that makes an action of that name again.
    open func redoMenuTitle(forUndoActionName actionName: String) -> String {
        actionName.isEmpty ? "Redo" : "Redo \(actionName)"
    }

    private func post(_ name: Notification.Name) { NotificationCenter.default.post(name: name, object: self) }
}

/// What has changes that an undo manager does not know of yet.
protocol UndoCheckpointListener: AnyObject {
    /// Registers them now: a group is opened or closed, or one is taken back or made again.
    func undoManagerReachedCheckpoint()
}

extension NSNotification.Name {
    /// An undo manager (the object) was asked whether it can redo, undoes, redoes, opens or closes a group.
    public static let NSUndoManagerCheckpoint = NSNotification.Name("NSUndoManagerCheckpointNotification")
    /// An undo manager (the object) is about to take a group back.
    public static let NSUndoManagerWillUndoChange = NSNotification.Name("NSUndoManagerWillUndoChangeNotification")
    /// An undo manager (the object) is about to make a group again.
    public static let NSUndoManagerWillRedoChange = NSNotification.Name("NSUndoManagerWillRedoChangeNotification")
    /// An undo manager (the object) took a group back.
    public static let NSUndoManagerDidUndoChange = NSNotification.Name("NSUndoManagerDidUndoChangeNotification")
    /// An undo manager (the object) made a group again.
    public static let NSUndoManagerDidRedoChange = NSNotification.Name("NSUndoManagerDidRedoChangeNotification")
    /// An undo manager (the object) opened a group.
    public static let NSUndoManagerDidOpenUndoGroup = NSNotification.Name("NSUndoManagerDidOpenUndoGroupNotification")
    /// An undo manager (the object) is about to close a group.
    public static let NSUndoManagerWillCloseUndoGroup = NSNotification.Name(
        "NSUndoManagerWillCloseUndoGroupNotification")
    /// An undo manager (the object) closed a group.
    public static let NSUndoManagerDidCloseUndoGroup = NSNotification.Name("NSUndoManagerDidCloseUndoGroupNotification")
}
