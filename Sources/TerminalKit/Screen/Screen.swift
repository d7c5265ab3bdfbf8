/// A terminal, or a substitute in tests: shows frames and returns the user's input.
///
/// For a single thread.
public protocol Screen: AnyObject {
    /// The current size.
    var size: Size { get }
    /// The text measurement, for the characters that the terminal can show.
    var text: TextWidth { get }
    /// True if pictures can be shown.
    var showsPictures: Bool { get }
    /// The descriptor that becomes readable when there is input; `nil` if there is none to wait for.
    var inputDescriptor: Int32? { get }

    /// Shows a frame. Sends only the differences from the previous one.
    func present(_ frame: CellGrid)

    /// The user's input since the last call. Does not wait.
    func readEvents() -> [Event]

    /// Redraws everything with the next frame.
    func invalidate()

    /// Updates the size after the terminal may have changed it.
    func updateSize()

    /// Restores the terminal, stops the process as the shell expects, and reacquires the terminal when it continues.
    func suspend()
}

extension Screen {
    /// No pictures are shown.
    public var showsPictures: Bool { false }
}
