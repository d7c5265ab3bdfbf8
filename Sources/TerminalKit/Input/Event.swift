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
    public enum Action: Hashable, Sendable {
        case press, doubleClick, wheelUp, wheelDown
    }

    public var action: Action
    public var position: Point

    public init(_ action: Action, at position: Point) {
        self.action = action
        self.position = position
    }
}
