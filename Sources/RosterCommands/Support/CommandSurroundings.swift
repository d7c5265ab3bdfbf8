import Foundation

/// Output of a command. Writes are buffered until ``flush()``.
public protocol TextOutput: AnyObject {
    /// Appends `text`.
    /// - Throws: ``CommandError`` if the text cannot be written, for example to a full disk.
    func write(_ text: String) throws
    /// Appends bytes unchanged, such as a picture.
    /// - Throws: ``CommandError`` if they cannot be written, or would disturb a terminal.
    func write(bytes: Data) throws
    /// Writes the buffered text to the output.
    func flush() throws
}

extension TextOutput {
    /// For outputs that collect text.
    ///
    /// - Throws: errors of writing the text.
    public func write(bytes: Data) throws { try write(String(decoding: bytes, as: UTF8.self)) }
}

/// Displays the progress of a long command.
public protocol ProgressDisplay: AnyObject {
    /// - Parameters:
    ///   - fraction: from 0 to 1, or `nil` if the total is unknown.
    ///   - text: the work done so far, for example `1,200 records`.
    func report(fraction: Double?, _ text: @autoclosure () -> String)
    /// Removes the progress display.
    func end()
}

/// A request to stop at the next clean point, as made by Ctrl-C.
public protocol Interruption: AnyObject {
    /// True once the request was made.
    var isRaised: Bool { get }
    /// Waits for `time`, measured by a clock that is never set, or until the request is made.
    func wait(for time: Duration)
    /// Calls `action` on the main queue when the request is made.
    func whenRaised(_ action: @escaping @Sendable @MainActor () -> Void)
}

/// The environment of a command.
public struct CommandSurroundings {
    /// Receives the output of the command.
    public let output: any TextOutput
    /// Displays the progress.
    public let progress: any ProgressDisplay
    /// Signals that the command has to stop.
    public let interruption: any Interruption
    /// Layout of text.
    public let textStyle: TextStyle
    /// Receives remarks for a person that are not part of the output.
    public let note: (String) -> Void

    /// The environment of one run.
    public init(
        output: any TextOutput, progress: any ProgressDisplay, interruption: any Interruption, textStyle: TextStyle,
        note: @escaping (String) -> Void = { _ in }
    ) {
        self.note = note
        self.output = output
        self.progress = progress
        self.interruption = interruption
        self.textStyle = textStyle
    }
}

/// Layout of text on the screen or in the file that receives it.
public struct TextStyle: Sendable {
    /// The number of cells of a text on a screen.
    public let width: @Sendable (String) -> Int
    /// Number of columns of the screen; `nil` if there is no screen, so that nothing is left out.
    public let columns: Int?
    /// True if emphasis is shown. Text then gets marks that ``TerminalText`` turns into escape sequences.
    public let isEmphasized: Bool

    /// A style for a screen of `columns` columns; `nil` for no screen.
    public init(columns: Int?, isEmphasized: Bool, width: @escaping @Sendable (String) -> Int) {
        self.columns = columns
        self.isEmphasized = isEmphasized
        self.width = width
    }

    func bold(_ text: String) -> String { emphasized(text, TerminalText.Mark.bold) }
    func dim(_ text: String) -> String { emphasized(text, TerminalText.Mark.dim) }

    /// The output to a terminal replaces the marks by escape sequences.
    private func emphasized(_ text: String, _ mark: Unicode.Scalar) -> String {
        isEmphasized ? "\(mark)\(text)\(TerminalText.Mark.plain)" : text
    }
}
