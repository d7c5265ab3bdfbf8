/// A user command, declared once. The key map, the help screen and the command palette are derived from it.
public struct Command<Target>: Sendable {
    /// The name in the palette: a few words, unique in the table.
    public let name: String
    /// The key sequences that run the command.
    public private(set) var keys: [KeySequence]
    /// A one-line description.
    public let help: String
    /// The heading in the help screen.
    public let category: String
    /// Returns why the command cannot run now, or `nil`. Its keys then show the reason, and the palette omits it.
    public let unavailable: @MainActor (Target) -> String?
    /// The action that the command performs.
    public let action: @MainActor (Target) -> Void

    /// - Parameters:
    ///   - keys: Key sequences in the notation of ``KeySequence``, separated by spaces.
    ///   - unavailable: The reason why the command cannot run now; `nil` if it can.
    public init(
        _ name: String, keys: String, category: String, help: String,
        unavailable: @escaping @MainActor (Target) -> String? = { _ in nil },
        action: @escaping @MainActor (Target) -> Void
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

    /// The keys as shown to the user.
    public var keyLabel: String { keys.map(\.label).joined(separator: "  ") }
}
