import CoreData
import Foundation

/// The state of a store's screens, for the next start. It contains only plain values.
///
/// Every part is optional: parts that cannot be read or do not fit the model any more are ignored.
struct BrowserState: Codable, Equatable {
    /// The store's path, for people who read the file.
    var store: String?
    var entity: String?
    var lists: [String: ListState] = [:]
    var filters: [String] = []
    var searches: [String] = []
    var commands: [String] = []
    var showsDetail = false

    /// Maximum number of entries of a history.
    static let historyLimit = 100

    init() {}

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func read<Value: Decodable>(_ key: CodingKeys, or other: Value) -> Value {
            (try? values.decodeIfPresent(Value.self, forKey: key)) ?? other
        }
        store = read(.store, or: nil)
        entity = read(.entity, or: nil)
        // One unreadable list does not affect the others.
        lists = read(.lists, or: [String: Lenient<ListState>]()).compactMapValues(\.value)
        filters = read(.filters, or: [])
        searches = read(.searches, or: [])
        commands = read(.commands, or: [])
        showsDetail = read(.showsDetail, or: false)
    }

    /// A value, or `nil` if it cannot be read.
    private struct Lenient<Value: Decodable>: Decodable {
        let value: Value?

        init(from decoder: any Decoder) throws { value = try? Value(from: decoder) }
    }
}

/// The state of an entity's list.
struct ListState: Codable, Equatable {
    struct Key: Codable, Equatable {
        var key: String
        var ascending: Bool
    }

    var section: String?
    var sectionForm: String?
    var sectionsAscend: Bool?
    var sort: [Key]?
    var filter: String?
    var folded: [String]?
    /// The URI of the record under the cursor.
    var cursor: String?
    var focus: String?
    var columns: ColumnLayout?

    init(_ settings: ListSettings) {
        section = settings.sectionKey
        sectionForm = settings.sectionForm
        sectionsAscend = settings.sectionsAscend
        sort = settings.sortKeys.map { Key(key: $0.keyPath, ascending: $0.isAscending) }
        filter = settings.filter
        folded = settings.folded.sorted()
        cursor = settings.cursor.flatMap { $0.isTemporaryID ? nil : $0.uriRepresentation().absoluteString }
        focus = settings.focusedColumn
        columns = settings.columns
    }

    /// The settings that still fit the entity.
    ///
    /// - Parameter first: the initial settings of the list.
    func settings(
        _ first: ListSettings, of entity: NSEntityDescription, in coordinator: NSPersistentStoreCoordinator?
    ) -> ListSettings {
        var settings = first
        let known = Set(entity.sortableKeyPaths)
        settings.sectionKey = section.flatMap { known.contains($0) ? $0 : nil }
        settings.sectionsAscend = sectionsAscend ?? true
        settings.sectionForm = settings.sectionKey == nil ? nil : sectionForm
        if let text = settings.sectionText, (try? SectionChoice(text).sectionBy(for: entity)) == nil {
            (settings.sectionKey, settings.sectionForm) = (nil, nil)
        }
        settings.setSortKeys(
            (sort ?? []).filter { known.contains($0.key) }.map {
                ListSettings.SortKey(keyPath: $0.key, isAscending: $0.ascending)
            })
        if let filter, FilterText.problem(filter, for: entity) == nil { settings.filter = filter }
        settings.folded = settings.sectionKey == section ? Set(folded ?? []) : []
        settings.cursor = cursor.flatMap(URL.init(string:)).flatMap {
            $0.scheme == "x-coredata" ? coordinator?.managedObjectID(forURIRepresentation: $0) : nil
        }
        settings.focusedColumn = focus
        settings.columns = columns ?? ColumnLayout()
        return settings
    }
}
