import CoreData
import Foundation
import RosterCommands

/// The first list to show: from the command line, the last state, or the main entity of the store.
struct FirstList {
    let browser: Browser
    let session: StoreSession
    let options: BrowserOptions
    let state: BrowserState

    /// The entity to show first.
    ///
    /// - Throws: an error if the command line names an unknown entity, or if the model has no entity.
    func entity() throws -> NSEntityDescription {
        let entities = session.entities
        if let name = options.entityName, !options.isSuggestion || known(state.entity) == nil {
            if let found = known(name) { return found }
            let names = entities.compactMap(\.name).joined(separator: ", ")
            throw CommandError.misuse(
                "\(StorePlace(url: session.url).name) has no entity “\(name)”. Its entities: \(names)")
        }
        if let found = known(state.entity) { return found }
        guard let found = entities.max(by: { weight($0) < weight($1) }) else {
            throw CommandError.failure("the model of \(StorePlace(url: session.url).name) has no entity to show")
        }
        return found
    }

    private func known(_ name: String?) -> NSEntityDescription? {
        name.flatMap { name in session.entities.first { $0.name == name } }
    }

    /// The importance of an entity, which grows with its records and relationships. Of equally important entities, the
    /// first by name is shown.
    private func weight(_ entity: NSEntityDescription) -> Double {
        let count = session.sizes[entity.name ?? ""] ?? 0
        let ties = entity.relationshipsByName.values.count { !$0.isTransient }
        let weight = log2(Double(1 + count)) * Double(2 + min(ties, 20))
        // Entities without a label are less useful in a list, and those without attributes least.
        if entity.attributesByName.values.allSatisfy(\.isTransient) { return weight / 8 }
        return EntityDisplay.label(of: entity) == nil ? weight / 2 : weight + 0.5
    }

    /// The settings of the first list.
    ///
    /// - Throws: an error if a key of the command line does not fit the entity.
    func settings(for entity: NSEntityDescription) throws -> ListSettings {
        let kept = state.lists[entity.name ?? ""]
        var settings =
            kept?.settings(
                browser.settings(for: entity), of: entity, in: session.container.persistentStoreCoordinator)
            ?? browser.settings(for: entity)
        guard !options.isSuggestion || kept == nil else { return settings }
        if let section = options.sectionKeyPath {
            let choice = SectionChoice(section)
            try choice.sectionBy(for: entity)
            settings.setSections(choice)
        } else if kept == nil, settings.sectionKey == nil, options.entityName == nil, options.sortKeys == nil {
            settings.sectionKey = SectionGuess(entity: entity, context: session.context).keyPath
        }
        if let text = options.sortKeys {
            let keys = try SortKey.parse(text)
            for key in keys { try EntityKeys.attribute(at: key.keyPath, of: entity, for: "sort by") }
            settings.setSortKeys(keys.map { ListSettings.SortKey(keyPath: $0.keyPath, isAscending: $0.ascending) })
        }
        if let predicate = options.predicate { settings.filter = predicate }
        return settings
    }
}

/// Guesses an attribute that groups the records of an entity into useful sections.
struct SectionGuess {
    let entity: NSEntityDescription
    let context: NSManagedObjectContext

    /// Number of records examined.
    private static let sample = 400
    private static let tellingWords = [
        "kind", "type", "category", "group", "zone", "genre", "status", "state", "level", "label", "country", "city",
        "year", "section", "style", "name", "location", "place", "role", "brand", "color", "colour",
    ]

    /// The key path; `nil` if no attribute groups well.
    var keyPath: String? {
        let candidates = entity.properties.compactMap { $0 as? NSAttributeDescription }.filter(mayGroup)
        guard !candidates.isEmpty else { return nil }
        let request = NSFetchRequest<NSDictionary>()
        request.entity = entity
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = candidates.map(\.name)
        request.fetchLimit = Self.sample
        request.includesPendingChanges = false
        guard let rows = try? context.fetch(request), rows.count >= 6 else { return nil }
        let rated = candidates.compactMap { attribute in
            weight(of: attribute, in: rows).map { (name: attribute.name, weight: $0) }
        }
        return rated.max { $0.weight < $1.weight }?.name
    }

    private func mayGroup(_ attribute: NSAttributeDescription) -> Bool {
        guard attribute.isSortable, attribute !== EntityDisplay.label(of: entity) else { return false }
        switch attribute.attributeType {
        case .stringAttributeType, .booleanAttributeType: return true
        // Numbers are counts or measurements, unless their name suggests a kind.
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType: return isTelling(attribute)
        default: return false
        }
    }

    private func isTelling(_ attribute: NSAttributeDescription) -> Bool {
        let name = attribute.name.lowercased()
        return Self.tellingWords.contains { name.hasSuffix($0) }
    }

    /// A rating of the attribute's groups; `nil` if it is unsuitable.
    private func weight(of attribute: NSAttributeDescription, in rows: [NSDictionary]) -> Double? {
        var sizes: [AnyHashable: Int] = [:]
        for row in rows {
            guard let value = row[attribute.name], !(value is NSNull), let key = Hashing.key(value) else { continue }
            sizes[key, default: 0] += 1
        }
        let filled = sizes.values.reduce(0, +)
        // At least two groups, two records per group on average, a value in half of the rows, and at most 95 % of the
        // values in one group.
        guard sizes.count >= 2, sizes.count * 2 <= filled, filled * 2 >= rows.count,
            sizes.count <= (isTelling(attribute) ? 100 : 60),
            let largest = sizes.values.max(), largest * 20 <= filled * 19
        else { return nil }
        let name = attribute.name.lowercased()
        var weight = 1 - Double(largest) / Double(filled)
        if attribute.attributeType == .stringAttributeType { weight += 1 }
        if attribute.attributeType == .booleanAttributeType { weight -= 0.3 }
        if isTelling(attribute) { weight += 0.5 }
        if ["id", "count", "index", "version", "width", "height", "size"].contains(where: { name.hasSuffix($0) }) {
            weight -= 0.6
        }
        return weight
    }
}
