import CoreData
import Foundation
import RosterCommands

/// Counts of a list's saved records by the values of one or two columns, computed in the store.
nonisolated struct ColumnCounts {
    /// A group of records with the same values.
    nonisolated struct Row {
        let values: [Any?]
        let count: Int
        /// The sum of the requested number, and the number of records that have one.
        let sum: Double
        let summed: Int
    }

    let rows: [Row]

    /// - Parameter rows: the result of the request.
    init(rows: [NSDictionary], _ query: Query) {
        self.rows = rows.map { row in
            Row(
                values: query.keyPaths.map { row[$0].flatMap { $0 is NSNull ? nil : $0 } },
                count: (row["rosterCount"] as? Int) ?? 0, sum: (row["rosterSum"] as? NSNumber)?.doubleValue ?? 0,
                summed: (row["rosterSummed"] as? Int) ?? 0)
        }
    }

    /// - Throws: ``CommandError`` if the filter is invalid.
    static func request(_ query: Query) throws -> NSFetchRequest<NSDictionary> {
        let request = NSFetchRequest<NSDictionary>()
        request.entity = query.entity
        request.resultType = .dictionaryResultType
        request.includesPendingChanges = false
        request.predicate = try FilterText.predicate(query.filter, for: query.entity)
        let count = expression("count:", .expressionForEvaluatedObject(), named: "rosterCount", .integer64AttributeType)
        var properties: [Any] = query.keyPaths + [count]
        if let summed = query.summed {
            let number = NSExpression(forKeyPath: summed)
            properties.append(expression("sum:", number, named: "rosterSum", .doubleAttributeType))
            properties.append(expression("count:", number, named: "rosterSummed", .integer64AttributeType))
        }
        request.propertiesToFetch = properties
        request.propertiesToGroupBy = query.keyPaths
        return request
    }

    private static func expression(
        _ function: String, _ argument: NSExpression, named name: String, _ type: NSAttributeType
    ) -> NSExpressionDescription {
        let description = NSExpressionDescription()
        description.name = name
        description.expression = NSExpression(forFunction: function, arguments: [argument])
        description.expressionResultType = type
        return description
    }

    /// The total count of each value of one of the columns.
    func totals(ofColumn column: Int) -> [(value: Any?, count: Int)] {
        var places: [AnyHashable: Int] = [:]
        var result: [(value: Any?, count: Int)] = []
        for row in rows {
            let value = row.values[column]
            let key = value.flatMap(Hashing.key) ?? AnyHashable(Optional<Int>.none)
            if let place = places[key] {
                result[place].count += row.count
            } else {
                places[key] = result.count
                result.append((value, row.count))
            }
        }
        return result
    }
}

extension ListScreen {
    /// The key path by which a column is counted: the attribute itself, or the label of a relationship's records.
    ///
    /// - Returns: `nil` if the column cannot be counted.
    func countedKeyPath(_ key: String) -> String? {
        if let attribute = entity.attribute(atKeyPath: key) { return attribute.isSortable ? key : nil }
        guard let relationship = entity.relationshipsByName[key], !relationship.isToMany,
            let label = relationship.destinationEntity.flatMap({ EntityDisplay.label(of: $0) })
        else { return nil }
        return "\(key).\(label.name)"
    }
}
