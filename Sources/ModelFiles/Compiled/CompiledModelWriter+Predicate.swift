import Foundation

extension CompiledModelWriter {
    mutating func write(_ predicate: PredicateDocument) throws -> PropertyListValue {
        switch predicate {
        case .format(let text): throw unwritable("the predicate '\(text)' was not parsed")
        case .constant(let value):
            return builder.object(
                [value ? "NSTruePredicate" : "NSFalsePredicate", "NSPredicate", "NSObject"], [:])
        case .not(let part): return try writeCompound(0, [part])
        case .and(let parts): return try writeCompound(1, parts)
        case .or(let parts): return try writeCompound(2, parts)
        case .comparison(let comparison):
            let fields: [String: PropertyListValue] = [
                "NSLeftExpression": try write(comparison.left), "NSRightExpression": try write(comparison.right),
                "NSPredicateOperator": writeOperator(of: comparison),
            ]
            return builder.object(["NSComparisonPredicate", "NSPredicate", "NSObject"], fields)
        }
    }

    private func unwritable(_ reason: String) -> ModelFileError {
        ModelFileError(.unsupported, file: "the archive of a model", reason)
    }

    private mutating func writeCompound(_ type: Int64, _ parts: [PredicateDocument]) throws -> PropertyListValue {
        var written: [PropertyListValue] = []
        for part in parts { written.append(try write(part)) }
        let fields: [String: PropertyListValue] = [
            "NSCompoundPredicateType": .integer(type), "NSSubpredicates": builder.array(written),
        ]
        return builder.object(["NSCompoundPredicate", "NSPredicate", "NSObject"], fields)
    }

    private mutating func writeOperator(of comparison: PredicateDocument.Comparison) -> PropertyListValue {
        let type = comparison.operatorType
        var fields: [String: PropertyListValue] = [
            "NSOperatorType": .integer(Int64(type)), "NSModifier": .integer(Int64(comparison.modifier)),
        ]
        let className: String
        switch type {
        case 0...3:
            className = "NSComparisonPredicateOperator"
            fields["NSVariant"] = .integer(Int64(type))
        case 4, 5:
            className = "NSEqualityPredicateOperator"
            fields["NSNegate"] = .boolean(type == 5)
        case 6: className = "NSMatchingPredicateOperator"
        case 7: className = "NSLikePredicateOperator"
        case 8, 9: className = "NSSubstringPredicateOperator"
        case 10, 99: className = "NSInPredicateOperator"
        case 100: className = "NSBetweenPredicateOperator"
        default: className = "NSCustomPredicateOperator"
        }
        fields[className == "NSInPredicateOperator" ? "NSFlags" : "NSOptions"] = .integer(Int64(comparison.options))
        return builder.object([className, "NSPredicateOperator", "NSObject"], fields)
    }

    mutating func write(_ expression: ExpressionDocument) throws -> PropertyListValue {
        switch expression {
        case .format(let text):
            return builder.object(
                [OwnKeys.textExpression, "NSExpression", "NSObject"], [OwnKeys.expressionText: builder.string(text)])
        case .evaluatedObject: return object("NSSelfExpression", type: 1, [:])
        case .variable(let name): return object("NSVariableExpression", type: 2, ["NSVariable": builder.string(name)])
        case .constant(.null):
            return object("NSConstantValueExpression", type: 0, ["NSConstantValueClassName": builder.null])
        case .constant(let value):
            return object("NSConstantValueExpression", type: 0, ["NSConstantValue": try write(value)])
        case .keyPath(let path): return try writeKeyPath(path, of: .evaluatedObject)
        case .keyPathOf(let operand, let path): return try writeKeyPath(path, of: operand)
        case .function(let name, let arguments):
            let utilities = object(
                "NSConstantValueExpression", type: 0,
                ["NSConstantValueClassName": builder.string("_NSPredicateUtilities")])
            var written: [PropertyListValue] = []
            for argument in arguments { written.append(try write(argument)) }
            return object(
                "NSFunctionExpression", type: 4,
                [
                    "NSOperand": utilities, "NSSelectorName": builder.string(name),
                    "NSArguments": builder.array(written),
                ])
        case .functionOn(let target, let name, let arguments):
            var written: [PropertyListValue] = []
            for argument in arguments { written.append(try write(argument)) }
            return object(
                "NSFunctionExpression", type: 4,
                [
                    "NSOperand": try write(target), "NSSelectorName": builder.string(name),
                    "NSArguments": builder.array(written),
                ])
        case .aggregate(let parts):
            var written: [PropertyListValue] = []
            for part in parts { written.append(try write(part)) }
            return object("NSAggregateExpression", type: 14, ["NSCollection": builder.array(written)])
        }
    }

    private mutating func writeKeyPath(_ path: String, of operand: ExpressionDocument) throws -> PropertyListValue {
        let isOwn = operand == .evaluatedObject
        let specifier = object("NSKeyPathSpecifierExpression", type: 10, ["NSKeyPath": builder.string(path)])
        let fields: [String: PropertyListValue] = [
            "NSOperand": try write(operand),
            "NSSelectorName": builder.string(isOwn && !path.contains(".") ? "valueForKey:" : "valueForKeyPath:"),
            "NSArguments": builder.array([specifier], isMutable: true),
        ]
        return object("NSKeyPathExpression", type: isOwn ? 3 : 4, fields)
    }

    mutating func object(
        _ className: String, type: Int64, _ fields: [String: PropertyListValue]
    ) -> PropertyListValue {
        var fields = fields
        fields["NSExpressionType"] = .integer(type)
        let ancestors =
            className == "NSKeyPathExpression"
            ? ["NSFunctionExpression", "NSExpression", "NSObject"] : ["NSExpression", "NSObject"]
        return builder.object([className] + ancestors, fields)
    }

    mutating func write(_ value: ValueDocument) throws -> PropertyListValue {
        switch value {
        case .null, .unknown: return builder.null
        case .boolean(let flag): return builder.value(.boolean(flag))
        case .integer(let number): return builder.value(.integer(number))
        case .real(let number): return builder.value(.real(number))
        case .decimal(let number):
            return builder.object(
                ["NSDecimalNumber", "NSNumber", "NSValue", "NSObject"], DecimalArchive.encode(number))
        case .string(let text): return builder.string(text)
        case .date(let seconds): return builder.object(["NSDate", "NSObject"], ["NS.time": .real(seconds)])
        case .data(let data): return builder.value(.data(data))
        case .uuid(let uuid):
            return builder.object(["NSUUID", "NSObject"], ["NS.uuidbytes": .data(uuid.bytes)])
        case .uri(let text):
            let relative = builder.string(text)
            return builder.object(["NSURL", "NSObject"], ["NS.base": builder.null, "NS.relative": relative])
        case .array(let values): return builder.array(try write(values))
        case .set(let values): return builder.set(try write(values))
        case .dictionary(let entries):
            var written: [(key: PropertyListValue, value: PropertyListValue)] = []
            for entry in entries { written.append((try write(entry.key), try write(entry.value))) }
            return builder.dictionary(written)
        }
    }

    private mutating func write(_ values: [ValueDocument]) throws -> [PropertyListValue] {
        var written: [PropertyListValue] = []
        for value in values { written.append(try write(value)) }
        return written
    }

    /// The user info of an entity or property.
    mutating func write(_ userInfo: [String: ValueDocument], _ kept: KeptArchive) throws -> PropertyListValue {
        var entries: [(key: PropertyListValue, value: PropertyListValue)] = []
        for (key, value) in userInfo.sorted(by: { $0.key < $1.key }) {
            entries.append((builder.string(key), try write(value)))
        }
        return builder.dictionary(entries + kept.entries(of: "NSUserInfo"))
    }
}
