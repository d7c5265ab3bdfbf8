/// Collects the triggers of one derived attribute.
struct TriggerWriter {
    private(set) var statements: [String] = []
    private let derivation: Derivation
    private let layout: TableLayout
    /// The table of the attribute's own entity, unquoted.
    private let table: String
    /// The column of the derived attribute, quoted.
    private let column: String
    private var names = UniqueNames()

    init(derivation: Derivation, layout: TableLayout) {
        self.derivation = derivation
        self.layout = layout
        table = layout.table(of: derivation.entity)
        column = SQLName.quoted(layout.column(of: derivation.attribute, in: derivation.entity) ?? "NULL")
    }

    // MARK: Kinds

    /// Sets the time. Each save of a row writes its `Z_OPT`.
    mutating func now() {
        let value = "(julianday('now') - 2451910.5) * 86400.0"
        add("SOURCE_INSERT", "INSERT", on: table, when: ownRows, set: value, where: "Z_PK = NEW.Z_PK", isInsert: true)
        add("SOURCE_UPDATE", "UPDATE OF Z_OPT", on: table, when: ownRows, set: value, where: "Z_PK = NEW.Z_PK")
    }

    mutating func ownValue(_ attribute: NSAttributeDescription, _ value: String) {
        let watched = SQLName.quoted(layout.column(of: attribute, in: derivation.entity) ?? "NULL")
        add("SOURCE_INSERT", "INSERT", on: table, when: ownRows, set: value, where: "Z_PK = NEW.Z_PK", isInsert: true)
        add(
            "SOURCE_UPDATE", "UPDATE OF \(watched)", on: table, when: ownRows, set: value, where: "Z_PK = NEW.Z_PK")
    }

    /// Copies a value at the other end of a to-one relationship.
    mutating func oneStep(_ path: DerivedPath, _ attribute: NSAttributeDescription, _ function: TextFunction?) {
        let (reference, far) = (path.column(ofHop: 0), path.table(1))
        let watched = path.column(attribute)
        let read =
            "(SELECT \(path.applied(function, to: watched)) FROM \(SQLName.quoted(far)) WHERE Z_PK = NEW.\(reference))"
        let given = path.applied(function, to: "NEW.\(watched)")
        add("SOURCE_INSERT", "INSERT", on: table, when: ownRows, set: read, where: "Z_PK = NEW.Z_PK", isInsert: true)
        add("SOURCE_UPDATE", "UPDATE OF \(reference)", on: table, set: read, where: "Z_PK = NEW.Z_PK")
        let rows = "\(reference) = NEW.Z_PK"
        add("PARAMETER_INSERT", "INSERT", on: far, set: given, where: rows, isInsert: true)
        add("PARAMETER_UPDATE", "UPDATE OF \(watched)", on: far, set: given, where: rows)
    }

    /// Counts the rows of a relationship, or sums one of their columns, incrementally.
    mutating func counted(_ children: DerivedPath.Children, summed: String?) {
        let owner = children.owner
        let (new, old) = ("Z_PK = NEW.\(owner)", "Z_PK = OLD.\(owner)")
        let known = summed == nil ? column : "IFNULL(\(column), 0)"
        let plus = summed.map { "IFNULL(NEW.\($0), 0)" } ?? "1"
        let minus = summed.map { "IFNULL(OLD.\($0), 0)" } ?? "1"
        // A row that is its own destination is counted once, with all others, when it is inserted, because SQLite does
        // not define which of the two triggers runs first.
        let isOther = children.table == table && !children.isJoinTable ? " AND NEW.\(owner) <> NEW.Z_PK" : ""
        add(
            "PARAMETER_INSERT", "INSERT", on: children.table, when: "NEW.\(owner) NOT NULL\(isOther)",
            set: "IFNULL(\(column), 0) + \(plus)", where: new)
        if !children.isJoinTable {
            let event = "UPDATE OF \(([owner] + [summed].compactMap(\.self)).joined(separator: ", "))"
            add(
                "PARAMETER_UPDATE_INCREMENT", event, on: children.table, when: "NEW.\(owner) NOT NULL",
                set: "\(known) + \(plus)", where: new)
            add(
                "PARAMETER_UPDATE_DECREMENT", event, on: children.table, when: "OLD.\(owner) NOT NULL",
                set: "\(known) - \(minus)", where: old)
        }
        add(
            "PARAMETER_DELETE", "DELETE", on: children.table, when: "OLD.\(owner) NOT NULL",
            set: "\(known) - \(minus)", where: old)
        let whole = summed.map { "SUM(\($0))" } ?? "COUNT(\(owner))"
        let select = "(SELECT IFNULL(\(whole), 0) FROM \(SQLName.quoted(children.table)) WHERE \(owner) = NEW.Z_PK)"
        add("SOURCE_INSERT", "INSERT", on: table, when: ownRows, set: select, where: "Z_PK = NEW.Z_PK", isInsert: true)
    }

    /// Handles all other forms: computes the value again for the rows whose path reaches the change.
    ///
    /// - Parameter watched: the attribute at the end of the path.
    mutating func general(_ path: DerivedPath, result: String, watched: NSAttributeDescription?) {
        let hops = derivation.hops
        let own = SQLName.quoted(table)
        let value = "(SELECT \(result) FROM \(path.joined(upTo: hops.count)) WHERE t0.Z_PK = \(own).Z_PK)"
        func rows(_ key: String, _ level: Int) -> String { path.rows(leadingTo: key, at: level) }
        add("SOURCE_INSERT", "INSERT", on: table, when: ownRows, set: value, where: "Z_PK = NEW.Z_PK", isInsert: true)
        for hop in hops.indices {
            let far = path.table(hop + 1)
            if hops[hop].isToMany {
                let children = path.children(hop)
                let (new, old) = ("NEW.\(children.owner)", "OLD.\(children.owner)")
                add(
                    "PARAMETER_INSERT", "INSERT", on: children.table, when: "\(new) NOT NULL", set: value,
                    where: rows(new, hop))
                add(
                    "PARAMETER_DELETE", "DELETE", on: children.table, when: "\(old) NOT NULL", set: value,
                    where: rows(old, hop))
                if children.isJoinTable { continue }
                let event = "UPDATE OF \(children.owner)"
                add(
                    "PARAMETER_UPDATE_INCREMENT", event, on: far, when: "\(new) NOT NULL", set: value,
                    where: rows(new, hop))
                add(
                    "PARAMETER_UPDATE_DECREMENT", event, on: far, when: "\(old) NOT NULL", set: value,
                    where: rows(old, hop))
            } else {
                let event = "UPDATE OF \(path.column(ofHop: hop))"
                let name = hop == 0 ? "SOURCE_UPDATE" : "PARAMETER_UPDATE"
                add(name, event, on: path.table(hop), set: value, where: rows("NEW.Z_PK", hop))
                add("PARAMETER_INSERT", "INSERT", on: far, set: value, where: rows("NEW.Z_PK", hop + 1))
            }
        }
        guard let watched else { return }
        add(
            "PARAMETER_UPDATE", "UPDATE OF \(path.column(watched))", on: path.table(hops.count), set: value,
            where: rows("NEW.Z_PK", hops.count))
    }

    // MARK: Text

    /// The condition for rows of the attribute's entity, if the table has other entities without the attribute.
    private var ownRows: String? {
        guard derivation.entity.superentity != nil else { return nil }
        let numbers = layout.entityNumbers(of: derivation.entity, includingSubentities: true)
        return "NEW.Z_ENT IN (\(numbers.map(String.init).joined(separator: ", ")))"
    }

    private mutating func add(
        _ what: String, _ event: String, on trigger: String, when: String? = nil, set value: String, where rows: String,
        isInsert: Bool = false
    ) {
        let entity = derivation.entity.name ?? ""
        let name = names.claim("Z_DA_\(trigger)_\(entity)_\(derivation.attribute.name)_\(what)")
        let condition = when.map { " WHEN (\($0))" } ?? ""
        let function = isInsert ? AffectedRows.insertFunction : AffectedRows.updateFunction
        let table = SQLName.quoted(table)
        statements.append(
            "CREATE TRIGGER \(SQLName.quoted(name)) AFTER \(event) ON \(SQLName.quoted(trigger)) FOR EACH ROW\(condition) "
                + "BEGIN UPDATE \(table) SET \(column) = \(value) WHERE \(rows); "
                + "SELECT \(function)(\(Self.literal(self.table)), Z_ENT, Z_PK, \(Self.literal(derivation.attribute.name)), "
                + "\(column)) FROM \(table) WHERE \(rows); END")
    }

    private static func literal(_ text: String) -> String { SQLText.literal(text) }
}
