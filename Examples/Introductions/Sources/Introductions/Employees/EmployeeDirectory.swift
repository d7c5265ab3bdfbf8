import CoreData

/// Counts employees by department.
@MainActor final class EmployeeDirectory {
    private let context: NSManagedObjectContext

    init(context: NSManagedObjectContext) { self.context = context }

    /// The number of employees by department name.
    func employeesPerDepartment() throws -> [(department: String, count: Int)] {
        let countExpressionDesc = NSExpressionDescription()
        countExpressionDesc.name = "headCount"
        countExpressionDesc.expression = NSExpression(
            forFunction: "count:", arguments: [NSExpression(forKeyPath: "name")])
        countExpressionDesc.expressionResultType = .integer32AttributeType

        let fetchRequest = NSFetchRequest<NSDictionary>(entityName: "Employee")
        fetchRequest.predicate = NSPredicate(format: "active == YES")
        fetchRequest.propertiesToFetch = ["department.name", countExpressionDesc]
        fetchRequest.propertiesToGroupBy = ["department.name"]
        fetchRequest.sortDescriptors = [NSSortDescriptor(key: "department.name", ascending: true)]
        fetchRequest.resultType = .dictionaryResultType
        return try context.fetch(fetchRequest).map { row in
            (row["department.name"] as? String ?? "", row["headCount"] as? Int ?? 0)
        }
    }
}
