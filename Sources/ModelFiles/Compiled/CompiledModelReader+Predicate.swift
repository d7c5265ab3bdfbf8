/// An unknown part of a predicate or an expression.
struct UnknownSyntax: Error { let reason: String }

extension CompiledModelReader {
    /// Reads the predicate; `nil` if there is none, or it has unknown parts, which is noted.
    ///
    /// - Parameters:
    ///   - owner: The owner of the predicate, for the note.
    ///   - unknown: Receives the archived form if some of its keys are unknown.
    mutating func readPredicate(
        _ value: PropertyListValue?, of owner: String, keeping unknown: inout UnknownParts
    ) throws -> PredicateDocument? {
        let count = unknownSyntaxCount
        do {
            let predicate = try readPredicate(value, depth: 0)
            if let predicate, let value, unknownSyntaxCount > count {
                try keepForm(value, of: .predicate(predicate), in: &unknown)
            }
            return predicate
        } catch let problem as UnknownSyntax {
            note("a predicate of '\(owner)' is kept in the file but not used: \(problem.reason)")
            return nil
        }
    }

    /// Reads the expression. If it has parts that cannot be interpreted, adds a note and returns `nil`.
    ///
    /// - Parameter unknown: Receives the archived form if the expression was read but some of its keys are unknown.
    mutating func readExpression(
        _ value: PropertyListValue?, of owner: String, keeping unknown: inout UnknownParts
    ) throws -> ExpressionDocument? {
        let count = unknownSyntaxCount
        do {
            let expression = try readExpression(value, depth: 0)
            if let value, unknownSyntaxCount > count {
                try keepForm(value, of: .expression(expression), in: &unknown)
            }
            return expression
        } catch let problem as UnknownSyntax {
            note("an expression of '\(owner)' is kept in the file but not used: \(problem.reason)")
            return nil
        }
    }

    private mutating func keepForm(
        _ value: PropertyListValue, of document: ArchivedParts.Form.Document, in unknown: inout UnknownParts
    ) throws {
        try keep(in: &unknown) { keeping, parts in
            parts.forms.append(ArchivedParts.Form(document: document, value: keeping.keep(value)))
        }
    }

    private mutating func readPredicate(_ value: PropertyListValue?, depth: Int) throws -> PredicateDocument? {
        guard let object = archive.object(value) else { return nil }
        try spend()
        guard depth < 64 else { throw error("predicates are nested too deeply: the model is damaged") }
        noteUnknownSyntax(of: object)
        let fields = object.fields
        switch object.className {
        case "NSTruePredicate": return .constant(true)
        case "NSFalsePredicate": return .constant(false)
        case "NSCompoundPredicate":
            var parts: [PredicateDocument] = []
            for item in archive.elements(fields["NSSubpredicates"]) ?? [] {
                guard let part = try readPredicate(item, depth: depth + 1) else {
                    throw error("a part of a compound predicate is missing")
                }
                parts.append(part)
            }
            switch archive.integer(fields["NSCompoundPredicateType"]) {
            case 0: return .not(parts.count == 1 ? parts[0] : .and(parts))
            case 1: return .and(parts)
            case 2: return .or(parts)
            default: throw error("a compound predicate is neither NOT, AND nor OR")
            }
        case "NSComparisonPredicate": return .comparison(try readComparison(fields, depth: depth))
        default:
            throw UnknownSyntax(reason: "it has a part of the unknown class \(object.className)")
        }
    }

    private mutating func readComparison(
        _ fields: [String: PropertyListValue], depth: Int
    ) throws -> PredicateDocument.Comparison {
        guard let kind = archive.object(fields["NSPredicateOperator"]),
            let type = archive.integer(kind.fields["NSOperatorType"]), type >= 0
        else { throw error("a comparison has no operator") }
        noteUnknownSyntax(of: kind)
        // The archive's IN has the operator of CONTAINS if the collection is on the left.
        let options = archive.integer(kind.fields["NSOptions"]) ?? archive.integer(kind.fields["NSFlags"]) ?? 0
        return PredicateDocument.Comparison(
            left: try readExpression(fields["NSLeftExpression"], depth: depth + 1),
            right: try readExpression(fields["NSRightExpression"], depth: depth + 1),
            operatorType: UInt(clamping: type),
            modifier: UInt(clamping: archive.integer(kind.fields["NSModifier"]) ?? 0), options: UInt(clamping: options))
    }

    mutating func readExpression(_ value: PropertyListValue?, depth: Int) throws -> ExpressionDocument {
        try spend()
        guard depth < 64 else { throw error("expressions are nested too deeply: the model is damaged") }
        guard let object = archive.object(value) else { throw error("an expression is missing") }
        noteUnknownSyntax(of: object)
        let fields = object.fields
        switch object.className {
        case "NSSelfExpression": return .evaluatedObject
        case "NSVariableExpression": return .variable(archive.text(fields["NSVariable"]) ?? "")
        case "NSKeyPathSpecifierExpression": return .keyPath(archive.text(fields["NSKeyPath"]) ?? "")
        case "NSConstantValueExpression":
            guard let value = try readKnownValue(fields["NSConstantValue"]) else {
                throw UnknownSyntax(reason: "it has a constant of an unknown class")
            }
            return .constant(value)
        case "NSKeyPathExpression": return try readKeyPath(fields, depth: depth)
        case "NSFunctionExpression":
            guard let name = archive.text(fields["NSSelectorName"]) else { throw error("a function has no name") }
            if name == "valueForKey:" || name == "valueForKeyPath:" { return try readKeyPath(fields, depth: depth) }
            let arguments = try (archive.elements(fields["NSArguments"]) ?? []).map {
                try readExpression($0, depth: depth + 1)
            }
            // The functions of expressions are methods of a class, which is a constant operand.
            if archive.object(fields["NSOperand"])?.className ?? "NSConstantValueExpression"
                != "NSConstantValueExpression"
            {
                return .functionOn(try readExpression(fields["NSOperand"], depth: depth + 1), name, arguments)
            }
            return .function(name, arguments)
        case "NSAggregateExpression":
            return .aggregate(
                try (archive.elements(fields["NSCollection"]) ?? []).map { try readExpression($0, depth: depth + 1) })
        case OwnKeys.textExpression:
            let text = archive.text(fields[OwnKeys.expressionText]) ?? ""
            do {
                return try PredicateTranslation.document(PredicateTranslation.tree(ExpressionDocument.format(text)))
            } catch let failure {
                throw UnknownSyntax(reason: "cannot read the text of an expression: \(failure)")
            }
        default: throw UnknownSyntax(reason: "it has a part of the unknown class \(object.className)")
        }
    }

    private mutating func readKeyPath(_ fields: [String: PropertyListValue], depth: Int) throws -> ExpressionDocument {
        guard let argument = archive.elements(fields["NSArguments"])?.first,
            case .keyPath(let path) = try readExpression(argument, depth: depth + 1)
        else { throw error("a key path has no path") }
        let operand = try readExpression(fields["NSOperand"], depth: depth + 1)
        return operand == .evaluatedObject ? .keyPath(path) : .keyPathOf(operand, path)
    }

    /// Reads validation predicates, and converts the usual ones to limits.
    mutating func readValidations(
        _ fields: [String: PropertyListValue], type: AttributeKind?, of owner: String,
        keeping unknown: inout UnknownParts
    ) throws -> [ValidationDocument] {
        let predicates = archive.elements(fields["NSValidationPredicates"]) ?? []
        let warnings = archive.elements(fields["NSValidationWarnings"]) ?? []
        var result: [ValidationDocument] = []
        for (position, item) in predicates.enumerated() {
            let value = position < warnings.count ? warnings[position] : nil
            guard let predicate = try readPredicate(item, of: owner, keeping: &unknown) else {
                try keepElement(item, of: "NSValidationPredicates", in: &unknown)
                try keepElement(value ?? .reference(0), of: "NSValidationWarnings", in: &unknown)
                continue
            }
            let warning =
                archive.integer(value).map { ValidationWarning.code(Int(Int32(clamping: $0))) }
                ?? .message(archive.text(value) ?? "")
            result.append(ValidationDocument(recognising: predicate, warning: warning, type: type))
        }
        return result
    }
}

extension ValidationDocument {
    /// Converts a validation predicate to its simplest form, such as a limit. A predicate with an unusual warning stays
    /// a predicate.
    init(recognising predicate: PredicateDocument, warning: ValidationWarning, type: AttributeKind?) {
        let usual = type.flatMap { Self.usual(predicate, type: $0) }
        if let usual, let type, let code = usual.errorCode(for: type), warning == .code(code) {
            self = usual
        } else {
            self = .predicate(predicate, warning: warning)
        }
    }

    private static func usual(_ predicate: PredicateDocument, type: AttributeKind) -> ValidationDocument? {
        guard case .comparison(let comparison) = predicate, comparison.modifier == 0, comparison.options == 0,
            case .constant(let constant) = comparison.right
        else { return nil }
        switch (comparison.left, comparison.operatorType, constant) {
        case (.evaluatedObject, 3, _): return limit(constant, type: type).map(ValidationDocument.minimum)
        case (.evaluatedObject, 1, _): return limit(constant, type: type).map(ValidationDocument.maximum)
        case (.keyPath("length"), 3, .integer(let length)) where type == .string: return .minimumLength(Int(length))
        case (.keyPath("length"), 1, .integer(let length)) where type == .string: return .maximumLength(Int(length))
        case (.evaluatedObject, 6, .string(let pattern)) where type == .string: return .pattern(pattern)
        default: return nil
        }
    }

    /// The limit in the form of the type; `nil` if it does not fit the type.
    private static func limit(_ value: ValueDocument, type: AttributeKind) -> ValueDocument? {
        switch (type, value) {
        case (.integer16, .integer), (.integer32, .integer), (.integer64, .integer), (.double, .real), (.float, .real),
            (.decimal, .decimal), (.date, .date):
            value
        case (.double, .integer(let number)), (.float, .integer(let number)): .real(Double(number))
        case (.decimal, .integer(let number)): .decimal(.init(number))
        default: nil
        }
    }
}
