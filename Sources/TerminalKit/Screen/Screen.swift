/// A terminal, or a test's substitute for one: it shows frames and delivers what the user does.
///
/// Used by one thread only.
public protocol Screen: AnyObject {
    /// The present extent.
    var size: Size { get }
    /// What the terminal can draw.
    var text: TextWidth { get }
    /// Whether pictures can be shown.
    var showsPictures: Bool { get }
    /// The descriptor that becomes readable when there is input; `nil` where there is none to wait for.
    var inputDescriptor: Int32? { get }

    /// Shows a frame. Only what differs from the one before is sent.
    func present(_ frame: CellGrid)

    /// All that the user did since the last call, without waiting.
    func readEvents() -> [Event]

    /// Draws everything anew with the next frame.
    func invalidate()

    /// Learns the terminal's extent again after it may have changed.
    func updateSize()

    /// Gives the terminal back, stops the process as the shell expects, and takes the terminal again when it continues.
    func suspend()
}

extension Screen {
    /// No pictures are shown.
    public var showsPictures: Bool { false }
}
