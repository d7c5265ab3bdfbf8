/// An event of the terminal.
public enum Event: Hashable, Sendable {
    case key(Key)
    /// Text pasted in one piece. Never read as commands.
    case paste(String)
    case mouse(MouseEvent)
    case resize(Size)
    /// The program has the terminal again after it was stopped.
    case resumed
    /// The system or another process requests termination by SIGTERM, SIGHUP or SIGINT.
    case terminate(signal: Int32)
}

/// A mouse button press, or a turn of the wheel.
public struct MouseEvent: Hashable, Sendable {
    /// The kind of mouse event.
    public enum Action: Hashable, Sendable {
        case press, doubleClick, wheelUp, wheelDown
    }

    /// The kind of the event.
    public var action: Action
    /// The position of the pointer.
    public var position: Point

    /// Creates an event at a position.
    public init(_ action: Action, at position: Point) {
        self.action = action
        self.position = position
    }
}
