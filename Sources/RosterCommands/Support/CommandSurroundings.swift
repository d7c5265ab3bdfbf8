import Foundation

/// Output of a command. Writes are buffered until ``flush()``.
public protocol TextOutput: AnyObject {
    /// Appends `text`.
    /// - Throws: ``CommandError`` when the text cannot be written, for example to a full disk.
    func write(_ text: String) throws
    /// Hands everything written so far to the reader of the output.
    func flush() throws
}

/// Hears how far a long command has come.
public protocol ProgressDisplay: AnyObject {
    /// - Parameters:
    ///   - fraction: from 0 to 1, or `nil` where the end is not known.
    ///   - text: what has been done, for example `1,200 records`.
    func report(fraction: Double?, _ text: @autoclosure () -> String)
    /// Removes what is shown of the progress.
    func end()
}

/// A request from outside to stop at the next clean point, as Ctrl-C makes it.
public protocol Interruption: AnyObject {
    /// True once the request was made.
    var isRaised: Bool { get }
    /// Waits for `time`, however the clock is set meanwhile, or until the request is made.
    func wait(for time: Duration)
    /// Calls `action` on the main queue when the request is made.
    func whenRaised(_ action: @escaping @Sendable @MainActor () -> Void)
}

/// Everything that a command needs of the world around it.
public struct CommandSurroundings {
    /// Takes what the command prints.
    public let output: any TextOutput
    /// Shows how far the command is.
    public let progress: any ProgressDisplay
    /// Says whether the command is to stop.
    public let interruption: any Interruption
    /// Layout of text.
    public let textStyle: TextStyle
    /// Hears what a person should know and what does not belong to the output.
    public let note: (String) -> Void

    /// The surroundings of one run.
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
    /// The number of cells that a text takes on a screen.
    public let width: @Sendable (String) -> Int
    /// The number of columns of the screen, or `nil` where there is none: then nothing is left out.
    public let columns: Int?
    /// True if emphasis is shown: text gets marks that ``TerminalText`` turns into escape sequences.
    public let isEmphasized: Bool

    /// A style for a screen of so many columns, or for none.
    public init(columns: Int?, isEmphasized: Bool, width: @escaping @Sendable (String) -> Int) {
        self.columns = columns
        self.isEmphasized = isEmphasized
        self.width = width
    }

    func bold(_ text: String) -> String { emphasized(text, TerminalText.Mark.bold) }
    func dim(_ text: String) -> String { emphasized(text, TerminalText.Mark.dim) }

    /// The output to a terminal puts escape sequences in the place of the marks.
    private func emphasized(_ text: String, _ mark: Unicode.Scalar) -> String {
        isEmphasized ? "\(mark)\(text)\(TerminalText.Mark.plain)" : text
    }
}
