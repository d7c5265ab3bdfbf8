/// Strings that contain class names. Here, class names begin with the module, and `@objc(name)` does not change them.
enum ClassNameRule {
    static func apply(to work: inout PortingWork) {
        for index in work.live where work.isName(index) && work.source.isToken(index + 1, "(") {
            switch work.source.text(index) {
            case "NSStringFromClass": write(index, &work)
            case "NSClassFromString": checkLookup(index, &work)
            default: break
            }
        }
    }

    /// `NSStringFromClass(Note.self)` → `"Note"`, if that is the class's name in Objective-C.
    private static func write(_ index: Int, _ work: inout PortingWork) {
        let source = work.source
        guard let end = source.partner(index + 1) else { return }
        // These expect a name with a module.
        if source.areTokens(from: index - 2, ["managedObjectClassName", "="])
            || source.areTokens(from: index - 2, ["NSClassFromString", "("])
        {
            return
        }
        let advice =
            "NSStringFromClass: the result begins with the module, even with @objc(name). Write the name as a string if the "
            + "module is not wanted"
        guard source.areTokens(from: end - 2, [".", "self"]), source.isWord(end - 3),
            (index + 2..<end).allSatisfy({ source.isWord($0) || source.isToken($0, ".") })
        else { return work.note(at: index, advice) }
        let type = source.text(end - 3)
        if let name = work.facts.objectiveCName(of: type) {
            // Other code may compare the string with a class's name or look up a class by it.
            let isEntity = ["entityName", "forEntityName"].contains { source.areTokens(from: index - 2, [$0, ":"]) }
            guard isEntity else { return work.note(at: index, advice) }
            work.replace(index, through: end, by: "\"\(name)\"", otherwise: "NSStringFromClass: write \"\(name)\"")
        } else if !work.facts.declares(type) {
            // Without `@objc(name)`, a class of the program has the module in its name in Objective-C too.
            work.note(at: index, advice)
        }
    }

    private static func checkLookup(_ index: Int, _ work: inout PortingWork) {
        let source = work.source
        guard source.kind(index + 2) == .stringOpening, source.kind(index + 3) == .stringText,
            source.kind(index + 4) == .stringClosing, source.isToken(index + 5, ")")
        else { return }
        let name = source.text(index + 3)
        let type = work.facts.type(named: name)
        // Foundation's classes have the same names here.
        guard !name.contains("."), type != nil || !name.hasPrefix("NS") else { return }
        work.note(
            at: index,
            "NSClassFromString: class names begin with the module. "
                + (type.map { "Write \($0).self, or add" } ?? "Add") + " the module to the name")
    }
}
