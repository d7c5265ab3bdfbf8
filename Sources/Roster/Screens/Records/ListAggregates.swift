import CoreData
import Foundation

/// Count, sum, average, least and greatest of some values.
struct Aggregate: Equatable {
    var count = 0
    var sum = 0.0
    var least: Double?
    var greatest: Double?

    var average: Double? { count == 0 ? nil : sum / Double(count) }

    mutating func add(_ value: Double) {
        count += 1
        sum += value
        least = min(least ?? value, value)
        greatest = max(greatest ?? value, value)
    }

    mutating func add(_ other: Aggregate) {
        count += other.count
        sum += other.sum
        least = [least, other.least].compactMap { $0 }.min()
        greatest = [greatest, other.greatest].compactMap { $0 }.max()
    }
}

/// What is said of the values of one column: for each section, and for the whole list.
///
/// Numbers have sums; dates have a first and a last one; of everything else only what has a value is counted.
final class ListAggregates {
    enum Kind: Equatable {
        case number, date, other
    }

    let key: String
    let title: String
    let kind: Kind
    private(set) var sections: [Aggregate]
    private(set) var total = Aggregate()
    private let greatestSum: Double

    /// - Parameter sections: what the sections have, in their order.
    init(attribute: NSPropertyDescription, sections: [Aggregate]) {
        key = attribute.name
        title = PropertyTitle.title(attribute.name)
        kind = Self.kind(of: attribute)
        self.sections = sections
        for section in sections { total.add(section) }
        greatestSum = sections.map { abs($0.sum) }.max() ?? 0
    }

    static func kind(of property: NSPropertyDescription) -> Kind {
        if PropertyColumn(property: property, priority: 0).isNumeric, property is NSAttributeDescription {
            return .number
        }
        return (property as? NSAttributeDescription)?.attributeType == .dateAttributeType ? .date : .other
    }

    /// What a section's header says: `Σ 143  ⌀ 28.6  3–76`.
    func note(ofSection section: Int) -> (text: String, share: Double?)? {
        guard sections.indices.contains(section) else { return nil }
        let share = kind == .number && greatestSum > 0 ? abs(sections[section].sum) / greatestSum : nil
        return (text(of: sections[section]), share)
    }

    /// What the footer says of the whole list.
    var footer: String { "\(title): \(text(of: total))" }

    private func text(of aggregate: Aggregate) -> String {
        let counted = "\(aggregate.count) with a value"
        guard kind != .other, let least = aggregate.least, let greatest = aggregate.greatest else { return counted }
        guard kind == .number, let average = aggregate.average else {
            return "\(counted), \(Self.date(least)) to \(Self.date(greatest))"
        }
        return "sum \(Self.number(aggregate.sum))  avg \(Self.number(average))  "
            + "min \(Self.number(least))  max \(Self.number(greatest))"
    }

    /// A number with two decimals, or none where it is whole.
    static func number(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
        if value == value.rounded() { return EntityPickerSource.grouped(Int(value)) }
        let hundredths = Int((abs(value) * 100).rounded())
        let fraction = hundredths % 100
        let sign = value < 0 ? "-" : ""
        return "\(sign)\(EntityPickerSource.grouped(hundredths / 100)).\(fraction < 10 ? "0" : "")\(fraction)"
    }

    private static func date(_ seconds: Double) -> String {
        DateDisplay.short(Date(timeIntervalSinceReferenceDate: seconds))
    }
}

/// Works out what is said of the column with the focus, by the records themselves or by the store.
struct AggregateReader {
    let list: RecordList
    let key: String

    /// Of longer lists the store is asked.
    static let countByRecords = 5000

    private var property: NSPropertyDescription? { list.display.entity.propertiesByName[key] }

    /// Reads the records one by one, with what is not saved yet.
    func readRecords() -> ListAggregates? {
        guard let property else { return nil }
        let sections = (0..<list.sectionCount).map { section in
            var aggregate = Aggregate()
            for row in 0..<list.count(ofSection: section) {
                let object = list.controller.object(at: IndexPath(row: row, section: section))
                if let value = Self.number(object.value(forKey: key)) { aggregate.add(value) }
            }
            return aggregate
        }
        return ListAggregates(attribute: property, sections: sections)
    }

    /// A value as a number; that of anything without one counts, and is 0.
    private static func number(_ value: Any?) -> Double? {
        switch value {
        case nil, is NSNull: nil
        case let date as Date: date.timeIntervalSinceReferenceDate
        case let number as NSNumber: number.doubleValue
        case let set as NSSet: Double(set.count)
        case let set as NSOrderedSet: Double(set.count)
        default: 0
        }
    }

    /// The request that lets the store work it out for each section; `nil` where it cannot.
    func storeRequest() -> NSFetchRequest<NSDictionary>? {
        guard let attribute = property as? NSAttributeDescription, !attribute.isTransient else { return nil }
        let section = list.settings.sectionKey
        if let section, list.display.entity.attributesByName[section] == nil { return nil }
        let request = NSFetchRequest<NSDictionary>()
        request.entity = list.display.entity
        request.predicate = list.controller.fetchRequest.predicate
        request.resultType = .dictionaryResultType
        request.includesPendingChanges = false
        var functions = [("count", "count:", NSAttributeType.integer64AttributeType)]
        if ListAggregates.kind(of: attribute) != .other {
            let type = attribute.attributeType
            functions += [("least", "min:", type), ("greatest", "max:", type)]
            if ListAggregates.kind(of: attribute) == .number { functions.append(("sum", "sum:", .doubleAttributeType)) }
        }
        let values = functions.map { name, function, type in
            let description = NSExpressionDescription()
            description.name = name
            description.expression = NSExpression(
                forFunction: function, arguments: [NSExpression(forKeyPath: attribute.name)])
            description.expressionResultType = type
            return description
        }
        request.propertiesToFetch = (section.map { [$0 as Any] } ?? []) + values
        if let section {
            request.propertiesToGroupBy = [section]
            request.sortDescriptors = [
                NSSortDescriptor(key: section, ascending: list.settings.sectionsAscend)
            ]
        }
        return request
    }

    /// What the store's answer says; `nil` where it does not fit the sections, because they changed meanwhile.
    func aggregates(from rows: [NSDictionary]) -> ListAggregates? {
        guard let property, rows.count == list.sectionCount else { return nil }
        let sections = rows.map { row -> Aggregate in
            var aggregate = Aggregate()
            aggregate.count = (row["count"] as? NSNumber)?.intValue ?? 0
            aggregate.sum = (row["sum"] as? NSNumber)?.doubleValue ?? 0
            aggregate.least = Self.number(row["least"])
            aggregate.greatest = Self.number(row["greatest"])
            return aggregate
        }
        return ListAggregates(attribute: property, sections: sections)
    }
}
