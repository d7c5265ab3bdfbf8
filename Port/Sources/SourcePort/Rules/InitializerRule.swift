/// Makes initialisers that the framework calls `required`: of managed objects, stores, coordinators and migration
/// managers.
enum InitializerRule {
    /// The initialiser that the framework calls on subclasses of a class.
    private struct Requirement {
        /// Labels of the initialiser that every subclass must have.
        let labels: [String]
        /// Lines of the initialiser's parameter list.
        let parameters: [String]
        let arguments: String
        /// End of a message: the objects that call it.
        let use: String
    }

    private static let store = Requirement(
        labels: ["persistentStoreCoordinator", "configurationName", "at", "options"],
        parameters: [
            "",
            "    persistentStoreCoordinator root: NSPersistentStoreCoordinator?, configurationName name: String?, at url: URL,",
            "    options: [AnyHashable: Any]? = nil", "",
        ], arguments: "persistentStoreCoordinator: root, configurationName: name, at: url, options: options",
        use: "coordinators call to create stores")
    private static let requirements = [
        "NSManagedObject": Requirement(
            labels: ["entity", "insertInto"],
            parameters: ["entity: NSEntityDescription, insertInto context: NSManagedObjectContext?"],
            arguments: "entity: entity, insertInto: context", use: "contexts call to create objects"),
        "NSAtomicStore": store, "NSIncrementalStore": store,
        "NSMigrationManager": Requirement(
            labels: ["sourceModel", "destinationModel"],
            parameters: ["sourceModel: NSManagedObjectModel, destinationModel: NSManagedObjectModel"],
            arguments: "sourceModel: sourceModel, destinationModel: destinationModel",
            use: "migrations call to create managers"),
        "NSPersistentStoreCoordinator": Requirement(
            labels: ["managedObjectModel"], parameters: ["managedObjectModel model: NSManagedObjectModel"],
            arguments: "managedObjectModel: model", use: "containers call to create coordinators"),
    ]

    static func apply(to work: inout PortingWork) {
        for item in work.items.types() where work.isLive(item.keyword) {
            let header = TypeHeader(item, work.source)
            if header.keyword == "class" {
                let base = work.facts.base(of: header.name, among: requirements.keys)
                if let base, let required = requirements[base] { check(item, header, required, &work) }
            } else if header.keyword == "extension", work.facts.isManaged(header.name) {
                checkExtension(item, &work)
            }
        }
    }

    private static func check(
        _ item: SourceItem, _ header: TypeHeader, _ required: Requirement, _ work: inout PortingWork
    ) {
        guard let body = item.body else { return }
        let initializers = work.items.items(in: body).filter { $0.kind == .initializer && work.isLive($0.keyword) }
        var isDesignated = false
        var isComplete = false
        for initializer in initializers {
            let labels = labels(of: initializer, work.source)
            if labels == required.labels { isComplete = true }
            // `init(context:)` of managed objects is a convenience initialiser and also required.
            if labels == required.labels || labels == ["context"] && required.labels[0] == "entity" {
                require(initializer, header, &work)
            } else if !initializer.prefix.contains(where: { work.source.isToken($0, "convenience") }) {
                isDesignated = true
            }
        }
        if isDesignated, !isComplete, let last = initializers.last {
            addInitializer(required, after: last, header, &work)
        }
    }

    private static func require(_ item: SourceItem, _ header: TypeHeader, _ work: inout PortingWork) {
        let source = work.source
        let overriding = item.prefix.first { source.isToken($0, "override") }
        if item.prefix.contains(where: { source.isToken($0, "required") }) {
            if let overriding {
                work.remove(overriding, through: overriding, otherwise: "override: remove it, required implies it")
            }
            return
        }
        widenAccess(of: item, header, &work)
        let message = "initialiser that the framework calls: make it required"
        if let overriding {
            work.replace(overriding, through: overriding, by: "required", otherwise: message)
        } else {
            let place = item.prefix.first { source.isToken($0, "convenience") } ?? item.keyword
            work.insert("required ", at: source.tokens[place].range.lowerBound)
        }
    }

    /// Makes a required initialiser as accessible as its class, as Swift demands.
    private static func widenAccess(of item: SourceItem, _ header: TypeHeader, _ work: inout PortingWork) {
        guard let access = header.access, ["public", "open", "package"].contains(access) else { return }
        let wanted = access == "open" ? "public" : access
        let source = work.source
        let found = item.prefix.first {
            ["public", "open", "package", "internal", "fileprivate", "private"].contains(source.text($0))
        }
        if let found {
            if !["public", "open", wanted].contains(source.text(found)) {
                work.replace(found, through: found, by: wanted, otherwise: "required initialiser: make it \(wanted)")
            }
        } else {
            work.insert(wanted + " ", at: source.tokens[firstModifier(item, source)].range.lowerBound)
        }
    }

    /// The first modifier of a declaration, or its keyword.
    private static func firstModifier(_ item: SourceItem, _ source: SwiftSource) -> Int {
        item.prefix.first { index in
            source.isWord(index) && ItemReader.modifiers.contains(source.text(index))
                && source.parent(index) == source.parent(item.keyword)
                && !source.isToken(index - 1, "@")
        } ?? item.keyword
    }

    private static func addInitializer(
        _ required: Requirement, after item: SourceItem, _ header: TypeHeader, _ work: inout PortingWork
    ) {
        let source = work.source
        let last = item.tokens.upperBound - 1
        let name = "required init(\(required.labels.map { $0 + ":" }.joined()))"
        guard source.startsLine(item.tokens.lowerBound), source.startsLine(last + 1) else {
            return work.note(at: item.keyword, "designated initialiser: also declare \(name)")
        }
        let indentation = source.indentation(at: source.tokens[item.tokens.lowerBound].range.lowerBound)
        let access =
            header.access.flatMap { ["public": "public ", "open": "public ", "package": "package "][$0] } ?? ""
        let separator = source.lineBreak + indentation
        let lines = [
            "\(access)required init(\(required.parameters.joined(separator: separator))) {",
            "    super.init(\(required.arguments))", "}",
        ]
        let text = source.lineBreak + lines.map { indentation + $0 + source.lineBreak }.joined()
        let end = source.nextLineStart(at: source.tokens[last].range.upperBound - 1)
        work.insert(text, at: end)
        work.note(
            at: item.keyword,
            "designated initialiser: added \(name), which \(required.use). Initialise stored properties there too"
        )
    }

    private static func checkExtension(_ item: SourceItem, _ work: inout PortingWork) {
        guard let body = item.body else { return }
        let source = work.source
        for member in work.items.items(in: body) where work.isLive(member.keyword) {
            if member.kind == .initializer, labels(of: member, source) == ["context"] {
                work.note(at: member.keyword, "init(context:) is required: move it into the class")
            }
        }
    }

    /// Labels of an initialiser's parameters.
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
