/// Writes a class in Xcode's format, with accessors instead of `@NSManaged`, which needs the Objective-C runtime. As in
/// Xcode's newest format the classes are `nonisolated`, whatever the default isolation of a module: a context uses its
/// objects on its own queue.
struct ClassSource {
    private let plan: ClassPlan
    private let types: TypeNames

    init(_ plan: ClassPlan, _ types: TypeNames) {
        self.plan = plan
        self.types = types
    }

    /// The declaration of the class.
    func addClass(to text: inout SourceText) {
        text.block("nonisolated public class \(plan.escapedName): \(plan.superclassName)", [""])
    }

    /// Adds the extension with the properties, those with the accessors of to-many relationships, and the conformances.
    func addProperties(to text: inout SourceText) {
        text.block("nonisolated extension \(plan.escapedName)", requestLines + plan.properties.flatMap(propertyLines))
        for property in plan.properties {
            guard let toMany = property.toMany else { continue }
            text.block(
                "nonisolated extension \(plan.escapedName)", heading: "Generated accessors for \(property.name)",
                ToManyAccessors(property, toMany, types).lines)
        }
        if !plan.templates.isEmpty {
            text.block(
                "nonisolated extension \(plan.escapedName)", heading: "Fetch request templates",
                [""] + plan.templates.flatMap(templateLines))
        }
        if plan.isIdentifiable {
            text.block("nonisolated extension \(plan.escapedName): \(types.swift("Identifiable"))", [""])
        }
    }

    private var requestType: String { "\(types.coreData("NSFetchRequest"))<\(plan.escapedName)>" }

    private var requestLines: [String] {
        [
            "",
            "@nonobjc public class func fetchRequest() -> \(requestType) {",
            "    return \(requestType)(entityName: \(SwiftWords.literal(plan.entityName)))",
            "}",
            "",
        ]
    }

    private func propertyLines(_ property: PropertyPlan) -> [String] {
        let place = "self[\(property.access.rawValue): \(SwiftWords.literal(property.name))]"
        return [
            "public var \(SwiftWords.escaped(property.name)): \(property.type) {",
            "    get { \(place) }",
            "    set { \(place) = newValue }",
            "}",
            "",
        ]
    }

    private func templateLines(_ template: TemplatePlan) -> [String] {
        let type = "\(types.coreData("NSFetchRequest"))<\(template.resultType)>"
        let parameters = template.variables.map { "\(SwiftWords.escaped($0)): Any" }.joined(separator: ", ")
        let values = template.variables.map { "\(SwiftWords.literal($0)): \(SwiftWords.escaped($0))" }
        let variables = values.isEmpty ? "" : ", substitutionVariables: [\(values.joined(separator: ", "))]"
        return [
            "public class func \(template.methodName)(\(parameters)) -> \(type) {",
            "    return \(type)(template: \(SwiftWords.literal(template.name)), of: entity()\(variables))",
            "}",
            "",
        ]
    }
}
