import PredicateSyntax

/// Converts predicates and expressions between model files and syntax trees.
package enum PredicateTranslation {
    /// A conversion that is not possible, with the reason.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    // MARK: From files

    /// Converts a predicate of a model file to a tree.
    ///
    /// - Throws: ``Failure`` for text that cannot be parsed, and for unknown operators.
    package static func tree(_ document: PredicateDocument) throws(Failure) -> PredicateTree {
        switch document {
        case .format(let text):
            do { return try FormatParser.predicate(text) } catch { throw Failure(description: "'\(text)': \(error)") }
        case .constant(let value): return .constant(value)
        case .not(let part): return .not(try tree(part))
        case .and(let parts): return .and(try trees(parts))
        case .or(let parts): return .or(try trees(parts))
        case .comparison(let comparison):
            guard let kind = ComparisonOperator(rawValue: comparison.operatorType) else {
                throw Failure(description: "unknown operator \(comparison.operatorType)")
            }
            guard let modifier = ComparisonModifier(rawValue: comparison.modifier) else {
                throw Failure(description: "unknown modifier \(comparison.modifier)")
            }
            return .comparison(
                ComparisonTree(
                    left: try tree(comparison.left), right: try tree(comparison.right), comparison: kind,
                    modifier: modifier, options: ComparisonOptions(rawValue: comparison.options)))
        }
    }

    private static func trees(_ documents: [PredicateDocument]) throws(Failure) -> [PredicateTree] {
        var result: [PredicateTree] = []
        for document in documents { result.append(try tree(document)) }
        return result
    }

    /// Converts an expression of a model file to a tree.
    ///
    /// - Throws: ``Failure`` for text that cannot be parsed.
    package static func tree(_ document: ExpressionDocument) throws(Failure) -> ExpressionTree {
        switch document {
        case .format(let text):
            do { return try FormatParser.expression(text) } catch { throw Failure(description: "'\(text)': \(error)") }
        case .constant(let value): return .constant(value.object())
        case .evaluatedObject: return .evaluatedObject
        case .variable(let name): return .variable(name)
        case .keyPath(let path): return .keyPath(keys(path))
        case .keyPathOf(let operand, let path): return .keyPathOf(try tree(operand), keys(path))
        case .function(let name, let arguments): return .function(name, try trees(arguments))
        case .functionOn(let target, let name, let arguments):
            return .functionOn(try tree(target), name, try trees(arguments))
        case .aggregate(let parts): return .aggregate(try trees(parts))
        }
    }

    private static func trees(_ documents: [ExpressionDocument]) throws(Failure) -> [ExpressionTree] {
        var result: [ExpressionTree] = []
        for document in documents { result.append(try tree(document)) }
        return result
    }

    private static func keys(_ path: String) -> [String] { path.split(separator: ".").map(String.init) }

    // MARK: To files

    /// Converts a predicate to the form of model files.
    ///
    /// - Throws: ``Failure`` for predicates with closures, which files cannot store.
    package static func document(_ tree: PredicateTree) throws(Failure) -> PredicateDocument {
        switch tree {
        case .constant(let value): return .constant(value)
        case .not(let part): return .not(try document(part))
        case .and(let parts): return .and(try documents(parts))
        case .or(let parts): return .or(try documents(parts))
        case .opaque: throw Failure(description: "a model file cannot contain a block predicate")
        case .comparison(let comparison):
            return .comparison(
                PredicateDocument.Comparison(
                    left: try document(comparison.left), right: try document(comparison.right),
                    operatorType: comparison.comparison.rawValue, modifier: comparison.modifier.rawValue,
                    options: comparison.options.rawValue))
        }
    }

    private static func documents(_ trees: [PredicateTree]) throws(Failure) -> [PredicateDocument] {
        var result: [PredicateDocument] = []
        for tree in trees { result.append(try document(tree)) }
        return result
    }

    /// Converts an expression to the form of model files. One without a known archived form, such as a subquery, stays
    /// text.
    ///
    /// - Throws: ``Failure`` for expressions with closures, and constants that files cannot store.
    package static func document(_ tree: ExpressionTree) throws(Failure) -> ExpressionDocument {
        switch tree {
        case .constant(let value):
            let document = ValueDocument(object: value)
            if case .unknown(let name) = document {
                throw Failure(description: "a model file cannot contain a constant of the class \(name)")
            }
            return .constant(document)
        case .evaluatedObject: return .evaluatedObject
        case .variable(let name): return .variable(name)
        case .keyPath(let keys): return .keyPath(keys.joined(separator: "."))
        case .keyPathOf(let operand, let keys): return .keyPathOf(try document(operand), keys.joined(separator: "."))
        case .function(let name, let arguments): return .function(name, try documents(arguments))
        case .functionOn(let target, let name, let arguments):
            return .functionOn(try document(target), name, try documents(arguments))
        case .aggregate(let parts): return .aggregate(try documents(parts))
        case .subquery, .index, .conditional, .set:
            try checkParts(of: tree)
            return .format(try readableText(tree))
        case .opaque: throw Failure(description: "a model file cannot contain a block expression")
        }
    }

    /// The text of the expression.
    ///
    /// - Throws: ``Failure`` if parsing the text does not result in the same expression: dictionaries and operators
    ///   that are methods, for example, have no text. The printer puts everything with an operator in parentheses, so
    ///   expressions with the same text are equivalent.
    private static func readableText(_ tree: ExpressionTree) throws(Failure) -> String {
        let text = FormatPrinter.string(tree)
        guard let read = try? FormatParser.expression(text), FormatPrinter.string(read) == text else {
            throw Failure(description: "a model file cannot contain '\(text)': reading it would give another predicate")
        }
        return text
    }

    /// Checks that a file can store all parts of an expression.
    ///
    /// - Throws: ``Failure`` if a file cannot store a part.
    private static func checkParts(of tree: ExpressionTree) throws(Failure) {
        switch tree {
        case .subquery(let collection, _, let predicate):
            _ = try document(collection)
            _ = try document(predicate)
        case .index(let collection, .value(let index)): _ = try documents([collection, index])
        case .index(let collection, .first), .index(let collection, .last), .index(let collection, .size):
            _ = try document(collection)
        case .conditional(let condition, let first, let second):
            _ = try document(condition)
            _ = try documents([first, second])
        case .set(_, let first, let second): _ = try documents([first, second])
        case .constant, .evaluatedObject, .variable, .keyPath, .keyPathOf, .function, .functionOn, .aggregate, .opaque:
            break
        }
    }

    private static func documents(_ trees: [ExpressionTree]) throws(Failure) -> [ExpressionDocument] {
        var result: [ExpressionDocument] = []
        for tree in trees { result.append(try document(tree)) }
        return result
    }
}
