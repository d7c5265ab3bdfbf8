import CoreData
import Foundation
import RosterCommands
import TerminalKit

/// The display of an entity's records: the attribute that names them, and the columns of a list.
struct EntityDisplay {
    let entity: NSEntityDescription
    /// The attribute that names a record; `nil` if no attribute is suitable.
    let label: NSAttributeDescription?
    /// The columns of a list from left to right.
    let columns: [PropertyColumn]

    init(
        entity: NSEntityDescription, sectionKey: String? = nil, preferences: EntityPreferences? = nil,
        layout: ColumnLayout = ColumnLayout()
    ) {
        self.entity = entity
        label = Self.label(of: entity)
        var usual = Self.columns(of: entity, label: label, sectionKey: sectionKey, layout.added)
        usual = preferences.map { Self.columns(usual, of: entity, as: $0, layout.added) } ?? usual
        usual += (layout.computed ?? []).compactMap { PropertyColumn(computed: $0, of: entity) }
        let shown = layout.arranged(usual).map { column in
            var column = column
            column.width = layout.widths[column.key]
            return column
        }
        // At least one column has to be visible.
        columns = shown.isEmpty ? usual : shown
    }

    init(entity: NSEntityDescription, settings: ListSettings) {
        self.init(
            entity: entity, sectionKey: settings.sectionSortKey, preferences: settings.preferences,
            layout: settings.columns)
    }

    /// The columns of a list without the user's layout.
    static func usualColumns(of entity: NSEntityDescription, settings: ListSettings) -> [PropertyColumn] {
        var settings = settings
        settings.columns = ColumnLayout()
        return EntityDisplay(entity: entity, settings: settings).columns
    }

    /// The configured columns that the entity has, with the configured formats. Columns that the user added are last.
    private static func columns(
        _ columns: [PropertyColumn], of entity: NSEntityDescription, as preferences: EntityPreferences,
        _ added: Set<String>
    ) -> [PropertyColumn] {
        let names = (preferences.columns ?? []) + added.sorted().filter { preferences.columns?.contains($0) != true }
        let named = names.compactMap { entity.propertiesByName[$0] }
        let chosen =
            preferences.columns == nil || named.isEmpty
            ? columns : named.enumerated().map { PropertyColumn(property: $1, priority: $0) }
        return chosen.map { column in
            var column = column
            column.format = preferences.formats[column.key]
            return column
        }
    }

    var name: String { entity.name ?? "?" }

    /// The to-one relationships whose records the columns name.
    var relatedKeys: [String] {
        columns.flatMap { column -> [String] in
            if let computed = column.computed { return computed.relationshipPaths }
            guard let relationship = column.property as? NSRelationshipDescription, !relationship.isToMany,
                relationship.destinationEntity.map(RecordName.needsValues) == true
            else { return [] }
            return [relationship.name]
        }
    }

    // MARK: The label

    /// The text attribute of the first single-attribute uniqueness constraint; else one with a usual name such as
    /// `title`; else the first text that is not a path or an identifier.
    nonisolated static func label(of entity: NSEntityDescription) -> NSAttributeDescription? {
        let attributes = entity.properties.compactMap { $0 as? NSAttributeDescription }
            .filter { $0.attributeType == .stringAttributeType && !$0.isTransient }
        for constraint in entity.uniquenessConstraints where constraint.count == 1 {
            let name = (constraint[0] as? String) ?? (constraint[0] as? NSPropertyDescription)?.name
            if let found = attributes.first(where: { $0.name == name }) { return found }
        }
        let entityName = (entity.name ?? "").lowercased()
        let names = ["name", "title", "label", entityName + "name", entityName, "filename", "subject", "message"]
        for name in names {
            if let found = attributes.first(where: { $0.name.lowercased() == name }) { return found }
        }
        return attributes.first { $0.name.hasSuffix("Name") && !isPointer($0) } ?? attributes.first { !isPointer($0) }
            ?? attributes.first
    }

    /// True if the name suggests a path, an identifier or data instead of a record's name.
    private nonisolated static func isPointer(_ attribute: NSAttributeDescription) -> Bool {
        let name = attribute.name.lowercased()
        return ["image", "icon", "file", "url", "path", "identifier", "uuid", "guid", "data", "hash", "token"].contains
        { name.contains($0) }
    }

    // MARK: Columns

    private static func columns(
        of entity: NSEntityDescription, label: NSAttributeDescription?, sectionKey: String?, _ added: Set<String>
    ) -> [PropertyColumn] {
        var columns: [PropertyColumn] = []
        for (index, property) in entity.properties.enumerated() where !property.isTransient {
            let own = added.contains(property.name) ? PropertyColumn.addedRank : nil
            guard let rank = rank(of: property, label: label, sectionKey: sectionKey) ?? own else { continue }
            // Among ordinary columns, short titles are first: more of them fit.
            let width = rank == PropertyColumn.ordinaryRank ? min(99, property.name.count) : 0
            columns.append(
                PropertyColumn(property: property, priority: (rank * 100 + width) * 100 + min(99, index)))
        }
        if label == nil { columns.insert(PropertyColumn(recordOf: entity), at: 0) }
        return columns.sorted { ($0.place, $0.priority) < ($1.place, $1.priority) }
    }

    /// The importance of a property in a list, 0 for the highest; `nil` to omit it.
    private static func rank(
        of property: NSPropertyDescription, label: NSAttributeDescription?, sectionKey: String?
    ) -> Int? {
        if property === label { return 0 }
        if property.name == sectionKey { return 9 }
        if let relationship = property as? NSRelationshipDescription {
            guard !relationship.isToMany else { return nil }
            let isNamed = relationship.destinationEntity.flatMap { Self.label(of: $0) } != nil
            return isNamed ? PropertyColumn.ordinaryRank : 7
        }
        guard let attribute = property as? NSAttributeDescription else { return nil }
        switch attribute.attributeType {
        case .stringAttributeType:
            if isPointer(attribute) { return 8 }
            return attribute.name.lowercased().contains("name") ? 2 : PropertyColumn.ordinaryRank
        case .booleanAttributeType: return 6
        case .dateAttributeType: return 5
        case .binaryDataAttributeType, .transformableAttributeType, .compositeAttributeType, .undefinedAttributeType,
            .UUIDAttributeType, .URIAttributeType, .objectIDAttributeType:
            return 8
        default: return PropertyColumn.ordinaryRank
        }
    }
}

/// A property as a column of a list.
nonisolated struct PropertyColumn {
    /// Rank of texts, numbers and relationships that are not names.
    static let ordinaryRank = 3
    /// Rank of columns that only the user added.
    static let addedRank = 4

    /// The property; `nil` for a computed column, and for the record itself in entities without a label.
    let property: NSPropertyDescription?
    /// The expression of a computed column, as typed, and its value.
    private var expression = ""
    private(set) var computed: ComputedValue?
    /// Columns with lower numbers are further left in their group.
    let priority: Int
    /// The format from the configuration.
    var format: ValueFormat?
    /// The width set by the user.
    var width: Int?

    init(property: NSPropertyDescription, priority: Int) {
        self.property = property
        self.priority = priority
    }

    init(recordOf entity: NSEntityDescription, priority: Int = 0) {
        property = nil
        self.priority = priority
    }

    /// A column that the user added; `nil` if the entity has no such properties any more.
    init?(computed text: String, of entity: NSEntityDescription) {
        guard let value = try? ComputedValue(text, of: entity) else { return nil }
        self.init(recordOf: entity, priority: Self.addedRank * 10000)
        (expression, computed) = (text, value)
    }

    var key: String { property?.name ?? expression }
    var title: String { property.map { PropertyTitle.title($0.name) } ?? computed?.title ?? "Record" }

    /// The group of the column, from left to right: label, other names, the rest, section key.
    var place: Int {
        switch priority / 10000 {
        case 0: 0
        case 1, 2: 1
        case 9: 9
        default: 2
        }
    }

    var isNumeric: Bool {
        if let computed { return computed.isNumeric }
        if (property as? NSRelationshipDescription)?.isToMany == true { return true }
        guard let attribute = property as? NSAttributeDescription else { return false }
        switch attribute.attributeType {
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType, .decimalAttributeType,
            .doubleAttributeType, .floatAttributeType:
            return true
        default: return false
        }
    }

    var listColumn: ListColumn {
        let type = (property as? NSAttributeDescription)?.attributeType
        let isFlexible =
            property is NSRelationshipDescription || type == .stringAttributeType || property == nil && computed == nil
        return ListColumn(
            id: key, title: title, alignment: isNumeric ? .right : .left, isFlexible: isFlexible,
            leastWidth: isName ? 24 : 16, width: width)
    }

    /// True if the column names a record. Names get more width than other texts.
    private var isName: Bool { place == 0 || place == 1 && !isNumeric }

    /// The text of the cell in a list.
    func text(of object: NSManagedObject) -> String {
        if let computed { return computed.shown(of: object) }
        guard let property else { return RecordName.text(object) }
        return text(ofValue: object.value(forKey: property.name))
    }

    /// The text of a cell with a value of the column's property.
    func text(ofValue value: Any?) -> String {
        guard let property else { return ValueDisplay.nothing }
        return format.flatMap { $0.text(of: value) } ?? ValueDisplay.text(value, of: property)
    }
}

/// Titles for property names.
nonisolated enum PropertyTitle {
    /// `goalsFor` is shown as “Goals for”, `homeVenue.name` as “Home venue name”.
    static func title(_ key: String) -> String {
        var words: [String] = []
        var word = ""
        var previous: Character = " "
        for character in key {
            if character == "." || character == "_" {
                words.append(word)
                word = ""
            } else if character.isUppercase, !previous.isUppercase, !word.isEmpty {
                words.append(word)
                word = String(character)
            } else {
                word.append(character)
            }
            previous = character
        }
        words.append(word)
        let lowered = words.filter { !$0.isEmpty }.map { $0.allSatisfy(\.isUppercase) ? $0 : $0.lowercased() }
        let joined = lowered.joined(separator: " ")
        return joined.prefix(1).uppercased() + joined.dropFirst()
    }
}
