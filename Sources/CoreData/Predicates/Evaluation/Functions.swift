import Foundation
import PredicateSyntax

/// The functions of expressions, under Apple's names.
enum Functions {
    typealias Unary = @Sendable (PredicateValue) -> PredicateValue
    typealias Binary = @Sendable (PredicateValue, PredicateValue) -> PredicateValue

    /// Functions of one collection or of several values.
    static let ofCollections: [String: @Sendable ([PredicateValue]) -> PredicateValue] = [
        "sum:": { Aggregates.sum($0) }, "count:": { .integer(Int64($0.count)) }, "min:": { Aggregates.minimum($0) },
        "max:": { Aggregates.maximum($0) }, "average:": { Aggregates.average($0) },
        "median:": { Aggregates.median($0) },
        "mode:": { Aggregates.mode($0) }, "stddev:": { Aggregates.standardDeviation($0) },
    ]

    static let unary: [String: Unary] = [
        "sqrt:": { real($0) { $0.squareRoot() } }, "log:": { real($0, log10) }, "ln:": { real($0, log) },
        "exp:": { real($0, exp) }, "floor:": { rounded($0, .down) }, "ceiling:": { rounded($0, .up) },
        "trunc:": { rounded($0, .towardZero) }, "abs:": { Arithmetic.absolute($0) },
        "onesComplement:": { Arithmetic.complement($0) }, "uppercase:": { TextFunction.uppercase.apply(to: $0) },
        "lowercase:": { TextFunction.lowercase.apply(to: $0) }, "canonical:": { TextFunction.canonical.apply(to: $0) },
        "length:": { TextFunction.length.apply(to: $0) }, "noindex:": { $0 },
        "randomn:": {
            $0.number.map { .integer(Int64.random(in: 0..<max(1, Int64(clampedReal: $0.double)))) } ?? .null
        },
    ]

    static let binary: [String: Binary] = [
        "add:to:": { Arithmetic.add($0, $1) }, "from:subtract:": { Arithmetic.subtract($0, $1) },
        "multiply:by:": { Arithmetic.multiply($0, $1) }, "divide:by:": { Arithmetic.divide($0, $1) },
        "modulus:by:": { Arithmetic.modulus($0, $1) }, "raise:toPower:": { Arithmetic.raise($0, $1) },
        "bitwiseAnd:with:": { Arithmetic.and($0, $1) }, "bitwiseOr:with:": { Arithmetic.or($0, $1) },
        "bitwiseXor:with:": { Arithmetic.xor($0, $1) }, "leftshift:by:": { Arithmetic.shiftLeft($0, $1) },
        "rightshift:by:": { Arithmetic.shiftRight($0, $1) }, "castObject:toType:": { Casts.cast($0, to: $1) },
    ]

    static let withoutArguments: [String: @Sendable () -> PredicateValue] = [
        "now": { .date(Date().timeIntervalSinceReferenceDate) }, "random": { .real(Double.random(in: 0..<1)) },
    ]

    static func exists(_ name: String) -> Bool {
        ofCollections[name] != nil || unary[name] != nil || binary[name] != nil || withoutArguments[name] != nil
    }

    static func exists(_ name: String, argumentCount: Int) -> Bool {
        switch argumentCount {
        case 0: withoutArguments[name] != nil
        case 1: unary[name] != nil || ofCollections[name] != nil
        case 2: binary[name] != nil || ofCollections[name] != nil
        default: ofCollections[name] != nil
        }
    }

    static func unknown(_ name: String, argumentCount: Int) -> NSError {
        let names = Array(ofCollections.keys) + Array(unary.keys) + Array(binary.keys) + Array(withoutArguments.keys)
        let reason =
            exists(name)
            ? "the function \(name) does not accept \(argumentCount) arguments"
            : "unknown function \(name)"
                + (NearestName.of(name, among: names).map { ": did you mean \($0)?" } ?? "")
        return CoreDataError.make(CoreDataError.invalidPredicate, reason)
    }

    private static func real(_ value: PredicateValue, _ function: (Double) -> Double) -> PredicateValue {
        value.number.map { Arithmetic.real(function($0.double)) } ?? .null
    }

    private static func rounded(_ value: PredicateValue, _ rule: FloatingPointRoundingRule) -> PredicateValue {
        if case .integer = value { return value }
        return real(value) { $0.rounded(rule) }
    }
}

extension Int64 {
    /// The nearest representable integer; 0 for NaN.
    init(clampedReal value: Double) {
        self = value.isNaN ? 0 : value >= 0x1p63 ? .max : value < -0x1p63 ? .min : Int64(value)
    }
}

/// Text functions. The store's SQL calls them by raw value.
package enum TextFunction: Int64 {
    case uppercase = 0
    case lowercase = 1
    /// Removes case and diacritics.
    case canonical = 2
    /// The length in UTF-16 code units.
    case length = 3

    init?(_ name: String) {
        switch name {
        case "uppercase:": self = .uppercase
        case "lowercase:": self = .lowercase
        case "canonical:": self = .canonical
        case "length:": self = .length
        default: return nil
        }
    }

    func apply(to value: PredicateValue) -> PredicateValue {
        switch value {
        case .text(let text): apply(to: text)
        case .data(let data) where self == .length: .integer(Int64(data.count))
        default: .null
        }
    }

    package func apply(to text: String) -> PredicateValue {
        switch self {
        case .uppercase: .text(text.uppercased())
        case .lowercase: .text(text.lowercased())
        case .canonical: .text(TextFolding.folded(text, [.caseInsensitive, .diacriticInsensitive]))
        case .length: .integer(Int64(text.utf16.count))
        }
    }
}

extension PredicateCompiler {
    mutating func function(_ name: String, _ arguments: [ExpressionTree]) throws -> CompiledExpression {
        if name == ExpressionTree.fetchFunction, arguments.count == 3 { return try fetch(arguments) }
        var compiled: [CompiledExpression] = []
        for argument in arguments { compiled.append(try expression(argument)) }
        let values = compiled.map(\.evaluate)
        let result: CompiledExpression
        if let function = Functions.ofCollections[name], !values.isEmpty {
            result =
                values.count == 1
                ? CompiledExpression { function(values[0]($0).elements) }
                : CompiledExpression { frame in function(values.map { $0(frame) }) }
        } else if values.count == 1, let function = Functions.unary[name] {
            result = CompiledExpression { function(values[0]($0)) }
        } else if values.count == 2, let function = Functions.binary[name] {
            result = CompiledExpression { function(values[0]($0), values[1]($0)) }
        } else if values.isEmpty, let function = Functions.withoutArguments[name] {
            return CompiledExpression { _ in function() }
        } else {
            throw Functions.unknown(name, argumentCount: arguments.count)
        }
        // A function of constants is constant, except for random functions.
        if !name.hasPrefix("random"), compiled.allSatisfy({ $0.constant != nil }) {
            return CompiledExpression(constant: result.evaluate(EvaluationFrame(subject: .null)))
        }
        return result
    }
}
