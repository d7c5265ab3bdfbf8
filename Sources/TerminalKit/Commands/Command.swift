/// Something the user can do: declared once. The key map, the help screen and the palette derive from it.
public struct Command<Target> {
    /// A few words, unique in the table: how the palette lists it.
    public let name: String
    /// The keys that run it, each by itself.
    public private(set) var keys: [KeySequence]
    /// One line that says what it does.
    public let help: String
    /// Under which heading the help screen shows it.
    public let category: String
    /// Whether it makes sense now; a disabled command is left out of the palette, and its key says why.
    public let unavailable: (Target) -> String?
    /// What it does.
    public let action: (Target) -> Void

    /// - Parameters:
    ///   - keys: in the notation of ``KeySequence``, several separated by spaces.
    ///   - unavailable: the reason why the command cannot run now; `nil` where it can.
    public init(
        _ name: String, keys: String, category: String, help: String,
        unavailable: @escaping (Target) -> String? = { _ in nil }, action: @escaping (Target) -> Void
    ) {
        self.name = name
        self.keys = keys.split(separator: " ").map { KeySequence(String($0)) }
        self.category = category
        self.help = help
        self.unavailable = unavailable
        self.action = action
    }

    /// The same command with other keys.
    public func bound(to keys: [KeySequence]) -> Command {
        var command = self
        command.keys = keys
        return command
    }

    /// The keys as written for the user.
    public var keyLabel: String { keys.map(\.label).joined(separator: "  ") }
}
