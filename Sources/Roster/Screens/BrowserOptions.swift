import Foundation
import RosterCommands

/// Options of the terminal program, from the command line.
struct BrowserOptions {
    var storeURL: URL
    /// A model file; `nil` uses the model stored in the store.
    var modelURL: URL?
    /// The entity to show first; `nil` shows the last one shown, or else the main entity of the store.
    var entityName: String?
    /// The key path that groups rows into sections.
    var sectionKeyPath: String?
    /// Sort keys in the syntax of the command line: `wins:desc,teamName`.
    var sortKeys: String?
    /// The filter as predicate format text.
    var predicate: String?
    var isReadOnly = false
    /// True if standard input or output may be a pipe. The screen then uses the process's terminal.
    var usesOwnTerminal = false
    /// Set if the program is used to choose records: the output for the chosen ones.
    var pick: PickRequest?
    /// True if the callbacks pane is open at the start.
    var showsCallbacks = false
    /// Hints shown above the callbacks pane.
    var notes: [String] = []
    /// Command that runs in the background for as long as the program.
    var companion: (@Sendable (CommandSurroundings) throws -> Void)?
    /// Message shown at the start.
    var welcome: String?
    /// The user's settings: keys, colours, columns.
    var preferences = Preferences()
    /// True if entity, sections and order apply only when no state was saved last time.
    var isSuggestion = false
    /// The folder of state files; `nil` if state is not saved.
    var stateFolder: URL?
    /// Limits above which work is done in the background; tests set smaller ones.
    var limits = WorkLimits()

    /// The store as the verbs refer to it.
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
