/// How whole rows of one entity, or of it and its descendants, are selected and decoded.
struct RowPlan {
    let entity: NSEntityDescription
    /// Quoted.
    let table: String
    let decoder: RowDecoder
    /// `SELECT … FROM …`
    let select: String

    init(entity: NSEntityDescription, includingSubentities: Bool, context: DecodingContext) {
        let columns = RowColumns(
            entity: entity, includingSubentities: includingSubentities, schema: context.layout)
        self.entity = entity
        self.table = SQLName.quoted(context.layout.table(of: entity))
        self.decoder = RowDecoder(columns: columns, context: context)
        self.select = "SELECT \(columns.selectList(alias: "t0")) FROM \(table) AS t0"
    }
}

/// The plans of every entity that was read by keys so far: working one out takes as long as reading a few rows.
final class RowPlans {
    private let context: DecodingContext
    private var known: [ObjectIdentifier: RowPlan] = [:]

    init(context: DecodingContext) { self.context = context }

    subscript(entity: NSEntityDescription) -> RowPlan {
        if let plan = known[ObjectIdentifier(entity)] { return plan }
        let made = RowPlan(entity: entity, includingSubentities: false, context: context)
        known[ObjectIdentifier(entity)] = made
        return made
    }
}
