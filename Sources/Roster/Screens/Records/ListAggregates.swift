import CoreData
import Foundation
import TerminalKit
import Translation

/// Aggregates of a column for each section and the whole list. The results controller computes them and keeps them up
/// to date.
///
/// Numbers have sums and averages, dates a first and a last value. For other types, only values are counted.
struct ListAggregates {
    enum Kind: Equatable {
        case number, date, other
    }

    let key: String
    private let title: String
    private let kind: Kind
    private let controller: NSFetchedResultsController<NSManagedObject>
    /// The greatest sum of a section, which has the longest bar; computed on demand.
    private var greatestSum: Double?

    /// - Returns: `nil` for properties that a controller cannot aggregate: relationships and transient attributes.
    init?(of property: NSPropertyDescription?, in controller: NSFetchedResultsController<NSManagedObject>) {
        guard let attribute = property as? NSAttributeDescription, !attribute.isTransient else { return nil }
        key = attribute.name
        title = PropertyTitle.title(attribute.name)
        kind = Self.kind(of: attribute)
        self.controller = controller
    }

    private static func kind(of attribute: NSAttributeDescription) -> Kind {
        if PropertyColumn(property: attribute, priority: 0).isNumeric { return .number }
        return attribute.attributeType == .dateAttributeType ? .date : .other
    }

    /// The aggregates that the controller has to compute.
    var wanted: [SectionAggregate] {
        switch kind {
        case .number: [.count(key), .sum(key), .average(key), .minimum(key), .maximum(key)]
        case .date: [.count(key), .minimum(key), .maximum(key)]
        case .other: [.count(key)]
        }
    }

    /// True if the controller has computed the aggregates.
    var isKnown: Bool { controller.aggregate(.count(key)) != nil }

    /// Clears cached values after a change of the list.
    mutating func listChanged() { greatestSum = nil }

    /// The text of a section's header, `sum 143  avg 28.6  min 3  max 76`, and the length of its bar.
    mutating func note(of section: any NSFetchedResultsSectionInfo) -> (text: String, share: Double?)? {
        guard isKnown else { return nil }
        return (text { section.aggregate($0) }, share(of: section))
    }

    private mutating func share(of section: any NSFetchedResultsSectionInfo) -> Double? {
        guard kind == .number, let sum = Self.number(section.aggregate(.sum(key))) else { return nil }
        let greatest =
            greatestSum
            ?? (controller.sections ?? []).compactMap { Self.number($0.aggregate(.sum(key))).map(abs) }.max() ?? 0
        greatestSum = greatest
        return greatest > 0 ? abs(sum) / greatest : nil
    }

    /// The footer for the whole list.
    var footer: String { "\(title): " + (isKnown ? text { controller.aggregate($0) } : "…") }

    private func text(_ value: (SectionAggregate) -> SectionValue?) -> String {
        let count = Int(Self.number(value(.count(key))) ?? 0)
        let counted = sentence("\(GroupedNumber.text(count)) with a value")
        switch kind {
        case .other: return counted
        case .date:
            guard let least = value(.minimum(key))?.date, let greatest = value(.maximum(key))?.date else {
                return counted
            }
            return sentence("\(counted), \(DateDisplay.short(least)) to \(DateDisplay.short(greatest))")
        case .number:
            guard let average = Self.number(value(.average(key))), let sum = Self.number(value(.sum(key))),
                let least = Self.number(value(.minimum(key))), let greatest = Self.number(value(.maximum(key)))
            else { return counted }
            let mean = Self.number(average)
            let bounds = sentence("min \(Self.number(least))  max \(Self.number(greatest))")
            return sentence("sum \(Self.number(sum))  avg \(mean)  \(bounds)")
        }
    }

    private static func number(_ value: SectionValue?) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .real(let number): number
        case .decimal(let number): NSDecimalNumber(decimal: number).doubleValue
        default: nil
        }
    }

    /// A number with two decimals; whole numbers without decimals.
    static func number(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
        if value == value.rounded() { return GroupedNumber.text(Int(value)) }
        let hundredths = Int((abs(value) * 100).rounded())
        let fraction = hundredths % 100
        let sign = value < 0 ? "-" : ""
        return "\(sign)\(GroupedNumber.text(hundredths / 100)).\(fraction < 10 ? "0" : "")\(fraction)"
    }
}
