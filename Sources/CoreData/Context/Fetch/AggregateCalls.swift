import Foundation
import PredicateSyntax

/// The aggregate calls of an expression, replaced by variables: the rest is evaluated once per group, with their
/// results.
struct AggregateCalls {
    struct Call {
        let function: @Sendable ([PredicateValue]) -> PredicateValue
        let name: String
        let argument: CompiledExpression
    }

    private let entity: NSEntityDescription
    private(set) var calls: [Call] = []

    init(of entity: NSEntityDescription) { self.entity = entity }

    /// Returns the aggregate call in `tree`: a collection function of a value that each row has; `nil` if `tree` is no
    /// such call.
    static func call(_ tree: ExpressionTree) -> (name: String, argument: ExpressionTree)? {
        guard case .function(let name, let arguments) = tree, arguments.count == 1,
            Functions.ofCollections[name] != nil
        else { return nil }
        switch arguments[0] {
        case .keyPath, .evaluatedObject, .function, .conditional: return (name, arguments[0])
        default: return nil
        }
    }

    static func isIn(_ tree: ExpressionTree) -> Bool {
        var found = false
        _ = tree.rewritten { part in
            found = found || call(part) != nil
            return found ? part : nil
        }
        return found
    }

    /// Replaces the aggregate calls in the expression `tree` by variables and compiles the rest.
    mutating func compile(_ tree: ExpressionTree) throws -> CompiledExpression {
        var compiler = PredicateCompiler(entity: entity)
        return try compiler.expression(try tree.rewritten { try takeOut($0) })
    }

    /// Replaces the aggregate calls in the predicate `tree` by variables and compiles the rest.
    mutating func compile(_ tree: PredicateTree) throws -> PredicateTest {
        var compiler = PredicateCompiler(entity: entity)
        return try compiler.predicate(try tree.rewritten { try takeOut($0) })
    }

    private mutating func takeOut(_ tree: ExpressionTree) throws -> ExpressionTree? {
        guard let (name, argument) = Self.call(tree), let function = Functions.ofCollections[name] else { return nil }
        var compiler = PredicateCompiler(entity: entity)
        calls.append(Call(function: function, name: name, argument: try compiler.expression(argument)))
        return .variable(Self.variable(calls.count - 1))
    }

    /// A name that no format string can contain.
    private static func variable(_ number: Int) -> String { "\u{1}\(number)" }

    /// Computes the results of the calls for a group with the members `rows`, as a frame for the rest of the
    /// expression.
    ///
    /// Values that are not set are ignored; destinations of to-many relationships count one by one.
    func frame(_ rows: [FetchedRow]) -> EvaluationFrame {
        var subject = rows.first
        var variables: [String: PredicateValue] = [:]
        for (number, call) in calls.enumerated() {
            var values: [PredicateValue] = []
            values.reserveCapacity(rows.count)
            for row in rows {
                let value = call.argument.evaluate(EvaluationFrame(subject: .object(row)))
                if case .collection(let elements) = value {
                    values += elements.filter { !$0.isNull }
                } else if !value.isNull {
                    values.append(value)
                }
            }
            let result = call.function(values)
            variables[Self.variable(number)] = result
            if calls.count == 1, call.name == "min:" || call.name == "max:" {
                subject =
                    rows.first {
                        let value = call.argument.evaluate(EvaluationFrame(subject: .object($0)))
                        return !value.isNull && ValueOrder.areEqual(value, result)
                    } ?? subject
            }
        }
        return EvaluationFrame(subject: subject.map { .object($0) } ?? .null, variables: variables)
    }
}
