/// How whole rows of one entity, or of it and its descendants, are selected and decoded.
struct RowPlan {
    let entity: NSEntityDescription
    /// Quoted.
    let table: String
    let decoder: RowDecoder
    /// `SELECT … FROM …`
    let select: String
    /// The statements for some of the rows.
    let texts: KeyedTexts

    init(entity: NSEntityDescription, includingSubentities: Bool, context: DecodingContext) {
        let columns = RowColumns(
            entity: entity, includingSubentities: includingSubentities, schema: context.layout)
        self.entity = entity
        self.table = SQLName.quoted(context.layout.table(of: entity))
        self.decoder = RowDecoder(columns: columns, context: context)
        self.select = "SELECT \(columns.selectList(alias: "t0")) FROM \(table) AS t0"
        self.texts = KeyedTexts(select: select, entityNumber: context.layout.number(of: entity))
    }
}

/// The texts of the statements that read rows by their keys, written once: for a single row, writing one takes longer than
/// running it.
final class KeyedTexts {
    private let select: String
    private let entityNumber: Int64
    private var known: [Int: String] = [:]

    init(select: String, entityNumber: Int64) {
        self.select = select
        self.entityNumber = entityNumber
    }

    /// - Parameter places: for how many keys.
    func select(_ places: Int, isOnlyEntity: Bool) -> String {
        let number = isOnlyEntity ? places : -places
        if let text = known[number] { return text }
        let list = places == 1 ? "= ?" : "IN (\(RowLookup.placeholders(places)))"
        let text = "\(select) WHERE Z_PK \(list)" + (isOnlyEntity ? " AND Z_ENT = \(entityNumber)" : "")
        known[number] = text
        return text
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
