import Foundation
import RosterCommands

/// What the command line asks of the terminal program.
struct BrowserOptions {
    /// The store to open.
    var storeURL: URL
    /// A model file; without one, the model that the store itself carries is used.
    var modelURL: URL?
    /// The entity to show first; without one, what was shown last time, or else the one that is the most of the store.
    var entityName: String?
    /// The key path by which rows are grouped in sections.
    var sectionKeyPath: String?
    /// Sort keys as on the command line: `wins:desc,teamName`.
    var sortKeys: String?
    /// The filter, as predicate format text.
    var predicate: String?
    /// Opens the store for reading only.
    var isReadOnly = false
    /// Whether standard input or output may be a pipe: the screen is then the terminal's of the process.
    var usesOwnTerminal = false
    /// Set where the program is asked which records: what is printed of those.
    var pick: PickRequest?
    /// Whether the pane of callbacks is open at the start.
    var showsCallbacks = false
    /// Lines of advice above that pane.
    var notes: [String] = []
    /// What runs beside the program from its start to its end.
    var companion: (@Sendable (CommandSurroundings) throws -> Void)?
    /// What is said at the start.
    var welcome: String?
    /// What the user set: keys, colours, columns.
    var preferences = Preferences()
    /// Whether entity, sections and order are only what is shown where nothing was left from last time.
    var isSuggestion = false
    /// Where it is kept how stores were left; `nil` keeps nothing.
    var stateFolder: URL?
    /// From where on records are many; tests set smaller numbers.
    var limits = WorkLimits()

    /// The store as the verbs name it.
    var location: StoreLocation {
        StoreLocation(store: storeURL.isFileURL ? storeURL.path : storeURL.absoluteString, model: modelURL?.path)
    }

    init(
        storeURL: URL, modelURL: URL? = nil, entityName: String? = nil, sectionKeyPath: String? = nil,
        sortKeys: String? = nil, predicate: String? = nil, isReadOnly: Bool = false,
        preferences: Preferences = Preferences()
    ) {
        self.storeURL = storeURL
        self.modelURL = modelURL
        self.entityName = entityName
        self.sectionKeyPath = sectionKeyPath
        self.sortKeys = sortKeys
        self.predicate = predicate
        self.isReadOnly = isReadOnly
        self.preferences = preferences
    }
}
