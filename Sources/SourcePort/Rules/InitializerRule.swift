/// Initialisers of managed objects that contexts call are `required` here.
enum InitializerRule {
    static func apply(to work: inout PortingWork) {
        for item in classes(in: nil, work, depth: 0) {
            let header = TypeHeader(item, work.source)
            if header.keyword == "class" {
                if work.facts.isManaged(header.name) { check(item, header, &work) }
            } else if header.keyword == "extension", work.facts.isManaged(header.name) {
                checkExtension(item, &work)
            }
        }
    }

    /// The classes and extensions of the file, also those in other types.
    private static func classes(in opening: Int?, _ work: PortingWork, depth: Int) -> [SourceItem] {
        guard depth < PortFacts.deepest else { return [] }
        return work.items.items(in: opening).filter { $0.kind == .type && work.isLive($0.keyword) }.flatMap { item in
            [item] + (item.body.map { classes(in: $0, work, depth: depth + 1) } ?? [])
        }
    }

    private static func check(_ item: SourceItem, _ header: TypeHeader, _ work: inout PortingWork) {
        guard let body = item.body else { return }
        let initializers = work.items.items(in: body).filter { $0.kind == .initializer && work.isLive($0.keyword) }
        var isDesignated = false
        var hasEntityInitializer = false
        for initializer in initializers {
            let labels = labels(of: initializer, work.source)
            if labels == ["entity", "insertInto"] { hasEntityInitializer = true }
            if labels == ["entity", "insertInto"] || labels == ["context"] {
                require(initializer, header, &work)
            } else if !initializer.prefix.contains(where: { work.source.isToken($0, "convenience") }) {
                isDesignated = true
            }
        }
        if isDesignated, !hasEntityInitializer, let last = initializers.last {
            addInitializer(after: last, header, &work)
        }
    }

    private static func require(_ item: SourceItem, _ header: TypeHeader, _ work: inout PortingWork) {
        let source = work.source
        let overriding = item.prefix.first { source.isToken($0, "override") }
        if item.prefix.contains(where: { source.isToken($0, "required") }) {
            if let overriding {
                work.remove(overriding, through: overriding, otherwise: "override: take it away, required says it")
            }
            return
        }
        widenAccess(of: item, header, &work)
        let message = "an initialiser that contexts call: it is required here"
        if let overriding {
            work.replace(overriding, through: overriding, by: "required", otherwise: message)
        } else {
            let place = item.prefix.first { source.isToken($0, "convenience") } ?? item.keyword
            work.insert("required ", at: source.tokens[place].range.lowerBound)
        }
    }

    /// A required initialiser is as accessible as its class.
    private static func widenAccess(of item: SourceItem, _ header: TypeHeader, _ work: inout PortingWork) {
        guard let access = header.access, ["public", "open", "package"].contains(access) else { return }
        let wanted = access == "open" ? "public" : access
        let source = work.source
        let found = item.prefix.first {
            ["public", "open", "package", "internal", "fileprivate", "private"].contains(source.text($0))
        }
        if let found {
            if !["public", "open", wanted].contains(source.text(found)) {
                work.replace(found, through: found, by: wanted, otherwise: "a required initialiser has to be \(wanted)")
            }
        } else {
            work.insert(wanted + " ", at: source.tokens[firstModifier(item, source)].range.lowerBound)
        }
    }

    /// The first token after attributes.
    private static func firstModifier(_ item: SourceItem, _ source: SwiftSource) -> Int {
        item.prefix.first { index in
            source.isWord(index) && ItemReader.modifiers.contains(source.text(index))
                && source.parent(index) == source.parent(item.keyword)
                && !source.isToken(index - 1, "@")
        } ?? item.keyword
    }

    private static func addInitializer(after item: SourceItem, _ header: TypeHeader, _ work: inout PortingWork) {
        let source = work.source
        let last = item.tokens.upperBound - 1
        guard source.startsLine(item.tokens.lowerBound), source.startsLine(last + 1) else {
            return work.note(
                at: item.keyword, "a designated initialiser: declare required init(entity:insertInto:) beside it")
        }
        let indentation = source.indentation(at: source.tokens[item.tokens.lowerBound].range.lowerBound)
        let access =
            header.access.flatMap { ["public": "public ", "open": "public ", "package": "package "][$0] } ?? ""
        let text = [
            "",
            "\(indentation)\(access)required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {",
            "\(indentation)    super.init(entity: entity, insertInto: context)",
            "\(indentation)}", "",
        ].joined(separator: source.lineBreak)
        let end = source.nextLineStart(at: source.tokens[last].range.upperBound - 1)
        work.insert(text, at: end)
        work.note(
            at: item.keyword,
            "a designated initialiser: required init(entity:insertInto:) was added, by which contexts make the objects; set what the class stores there too"
        )
    }

    private static func checkExtension(_ item: SourceItem, _ work: inout PortingWork) {
        guard let body = item.body else { return }
        let source = work.source
        for member in work.items.items(in: body) where work.isLive(member.keyword) {
            if member.kind == .initializer, labels(of: member, source) == ["context"] {
                work.note(at: member.keyword, "init(context:) is required here: move it into the class")
            }
            if let overriding = member.prefix.first(where: { source.isToken($0, "override") }) {
                work.note(
                    at: overriding,
                    "\(source.text(member.keyword + 1)) overrides from an extension, which is not possible here: move it into the class"
                )
            }
        }
    }

    /// The labels of an initialiser's parameters.
    private static func labels(of item: SourceItem, _ source: SwiftSource) -> [String] {
        var index = item.keyword + 1
        while index < item.tokens.upperBound, !source.isToken(index, "(") { index += 1 }
        guard let end = source.partner(index) else { return [] }
        var labels: [String] = []
        var isFirst = true
        index += 1
        while index < end {
            if isFirst, source.isWord(index) {
                labels.append(source.text(index))
                isFirst = false
            }
            if source.isToken(index, ",") { isFirst = true }
            index = source.next(after: index)
        }
        return labels
    }
}
