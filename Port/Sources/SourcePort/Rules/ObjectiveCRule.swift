/// Removes `@objc`, `@objc(name)`, `@objcMembers` and `dynamic`.
enum ObjectiveCRule {
    static func apply(to work: inout PortingWork) {
        for index in work.live {
            let source = work.source
            if source.isToken(index, "@"), ["objc", "objcMembers"].contains(source.text(index + 1)),
                !(source.isWord(index - 1) && source.touches(index - 1, index))
            {
                removeAttribute(at: index, &work)
            } else if source.isToken(index, "dynamic"), isModifier(index, source) {
                work.remove(index, through: index, otherwise: "dynamic has no effect: remove it")
            }
        }
    }

    private static func isModifier(_ index: Int, _ source: SwiftSource) -> Bool {
        guard !source.isToken(index - 1, "."), source.isWord(index + 1) || source.isToken(index + 1, "@") else {
            return false
        }
        let declares: Set<String> = ["var", "let", "func", "class", "subscript", "init", "lazy", "weak"]
        return declares.contains(source.text(index + 1)) || ItemReader.modifiers.contains(source.text(index + 1))
            || source.isToken(index + 1, "@")
    }

    private static func removeAttribute(at index: Int, _ work: inout PortingWork) {
        let source = work.source
        var last = index + 1
        if source.isToken(last + 1, "("), source.touches(last, last + 1), let end = source.partner(last + 1) {
            last = end
        }
        if isOptionalRequirement(after: last, source) {
            return work.note(
                at: index,
                "optional requirement: not available. Give it a default implementation in an extension of the protocol")
        }
        let path = work.items.path(to: index)
        if let item = path.last, item.prefix.contains(index) { remark(item, path.dropLast().last, index, last, &work) }
        work.remove(index, through: last, otherwise: "@\(source.text(index + 1)): not available. Remove it")
    }

    private static func isOptionalRequirement(after last: Int, _ source: SwiftSource) -> Bool {
        var place = last + 1
        while ItemReader.modifiers.contains(source.text(place)) {
            if source.isToken(place, "optional") { return true }
            place += 1
        }
        return false
    }

    // MARK: Effects of the attribute

    private static func remark(
        _ item: SourceItem, _ owner: SourceItem?, _ index: Int, _ last: Int, _ work: inout PortingWork
    ) {
        let source = work.source
        let name = last > index + 2 ? (index + 3..<last).map(source.text).joined() : ""
        let declared = source.text(item.keyword + 1).filter { $0 != "`" }
        if item.kind != .type, let owner, source.isToken(owner.keyword, "extension"),
            item.prefix.contains(where: { source.isToken($0, "open") })
        {
            work.note(
                at: index, about: declared,
                ": without @objc, subclasses cannot override an open member of an extension. Move it into the class")
        }
        switch item.kind {
        case .type where !name.isEmpty && name != declared:
            work.note(
                at: index, about: "@objc(\(name))",
                ": classes are found by their Swift names. Use the Swift name in models, archives and transformers"
            )
        case .type where !name.isEmpty && work.facts.texts.contains(name) && !work.facts.isManaged(declared):
            work.note(
                at: index, about: "@objc(\(name))",
                ": a string in the program has this name, but class names begin with the module. Register the object under this name, or add the module to the string"
            )
        case .variable where isOfManagedClass(owner, work):
            let isStored = item.prefix.contains { source.isToken($0, "NSManaged") }
            if isStored, !name.isEmpty, name != declared {
                work.note(
                    at: index, about: "@objc(\(name))",
                    ": the model's property must have the name of the variable. Rename one of them"
                )
            } else if !isStored, item.body != nil,
                !item.prefix.contains(where: { ["class", "static"].contains(source.text($0)) })
            {
                work.note(
                    at: index, about: declared,
                    ": value(forKey:), predicates and section key paths do not find computed properties. Make it a transient attribute if they need it"
                )
            }
        case .function where isOfManagedClass(owner, work): remarkOnHook(declared, index, &work)
        default: break
        }
    }

    /// Reports methods that Apple's framework finds by name.
    private static func remarkOnHook(_ name: String, _ index: Int, _ work: inout PortingWork) {
        if name.hasPrefix("validate"), name.count > 8 {
            work.note(
                at: index, about: name,
                ": not called by name. Override validateValue(_:forKey:) and call it from there")
        } else if name.hasPrefix("keyPathsForValuesAffecting") {
            work.note(
                at: index, about: name, ": not called. Computed properties cannot be observed by key")
        }
    }

    private static func isOfManagedClass(_ owner: SourceItem?, _ work: PortingWork) -> Bool {
        guard let owner, owner.kind == .type else { return false }
        return work.facts.isManaged(TypeHeader(owner, work.source).name)
    }
}
