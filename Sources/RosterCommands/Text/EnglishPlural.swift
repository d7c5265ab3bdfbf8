/// Plurals of entity names for several records or none: `Teams`, `Countries`.
public enum EnglishPlural {
    /// The plural of a noun; the noun itself if it seems to be a plural.
    public static func of(_ noun: String) -> String {
        if noun.hasSuffix("y"), let before = noun.dropLast().last, !"aeiou".contains(before) {
            return noun.dropLast() + "ies"
        }
        let endings = ["ss", "us", "is", "x", "ch", "sh"]
        if endings.contains(where: noun.hasSuffix) { return noun + "es" }
        // Entities are often named in the plural: Attributes, Settings.
        return noun.hasSuffix("s") ? noun : noun + "s"
    }
}
