/// `@NSManaged var` → `@Managed var`, `@NSManaged func` → `@ManagedMethod func`.
enum ManagedAttributeRule {
    static func apply(to work: inout PortingWork) {
        for index in work.live where work.source.isToken(index, "NSManaged") && work.source.isToken(index - 1, "@") {
            let declared = keyword(after: index, work)
            guard let name = ["var": "Managed", "func": "ManagedMethod"][declared] else {
                work.note(at: index, "@NSManaged on neither a variable nor a function: rewrite it by hand")
                continue
            }
            if work.replace(index, through: index, by: name, otherwise: "@NSManaged: write @\(name)") {
                work.needsCoreData = true
            }
        }
    }

    /// The keyword of the declaration that an attribute belongs to, such as `var`.
    private static func keyword(after index: Int, _ work: PortingWork) -> String {
        var place = index + 1
        while work.source.isToken(place, "@") || ItemReader.modifiers.contains(work.source.text(place)) {
            if work.source.isToken(place, "@") {
                place = work.items.endOfAttribute(at: place)
            } else {
                place += 1
                if work.source.isToken(place, "(") { place = work.source.next(after: place) }
            }
        }
        return work.source.text(place)
    }
}
