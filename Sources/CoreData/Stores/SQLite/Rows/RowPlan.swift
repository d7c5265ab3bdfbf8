/// The selection and decoding of whole rows of one entity, with or without its descendants.
struct RowPlan {
    let entity: NSEntityDescription
    /// The name of the table, quoted.
    let table: String
    let decoder: RowDecoder
    /// `SELECT … FROM …`
    let select: String
    /// The statements that select rows by key.
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

/// Cached texts of statements that select rows by key. Building a text for a single row takes longer than running it.
final class KeyedTexts {
    private let select: String
    private let entityNumber: Int64
    private var known: [Int: String] = [:]

    init(select: String, entityNumber: Int64) {
        self.select = select
        self.entityNumber = entityNumber
    }

    /// - Parameter places: the number of keys.
    func select(_ places: Int, isOnlyEntity: Bool) -> String {
        let number = isOnlyEntity ? places : -places
        if let text = known[number] { return text }
        let list = places == 1 ? "= ?" : "IN (\(RowLookup.placeholders(places)))"
        let text = "\(select) WHERE Z_PK \(list)" + (isOnlyEntity ? " AND Z_ENT = \(entityNumber)" : "")
        known[number] = text
        return text
    }
}

/// The plans of each entity read by key so far. Making one takes as long as reading a few rows.
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
