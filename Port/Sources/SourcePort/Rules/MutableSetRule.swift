/// `mutableSetValue(forKey: "tags") as? Set<Tag>` → a cast of a copy. A direct cast of the live set returns an empty
/// set here.
enum MutableSetRule {
    static func apply(to work: inout PortingWork) {
        for index in work.live where work.source.isToken(index, "mutableSetValue") {
            let source = work.source
            guard source.isToken(index + 1, "("), let end = source.partner(index + 1), source.isToken(end + 1, "as"),
                source.isToken(end + 3, "Set"), source.isToken(end + 4, "<")
            else { continue }
            work.replace(
                end, through: end, by: ").copy()", otherwise: "mutableSetValue(forKey:) cast to a Set: cast its copy()")
        }
    }
}
