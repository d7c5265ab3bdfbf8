/// Something that happened at the terminal.
public enum Event: Hashable, Sendable {
    case key(Key)
    /// Text pasted in one piece: never commands.
    case paste(String)
    case mouse(MouseEvent)
    case resize(Size)
    /// The terminal is ours again after a stop.
    case resumed
    /// The system or another process asks the program to end: SIGTERM, SIGHUP, SIGINT.
    case terminate(signal: Int32)
}

/// A press of a mouse button, or a turn of the wheel.
public struct MouseEvent: Hashable, Sendable {
    /// What was done with the mouse.
    public enum Action: Hashable, Sendable {
        case press, doubleClick, wheelUp, wheelDown
    }

    /// What was done.
    public var action: Action
    /// Where the pointer was.
    public var position: Point

    /// An action at a place.
    public init(_ action: Action, at position: Point) {
        self.action = action
        self.position = position
    }
}
