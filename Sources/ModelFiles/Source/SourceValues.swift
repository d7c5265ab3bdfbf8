import Foundation

/// The words and numbers of source models, and their meaning.
enum SourceValues {
    static let attributeKinds: [String: AttributeKind] = [
        "Undefined": .undefined, "Integer 16": .integer16, "Integer 32": .integer32, "Integer 64": .integer64,
        "Decimal": .decimal, "Double": .double, "Float": .float, "String": .string, "Boolean": .boolean, "Date": .date,
        "Binary": .binary, "UUID": .uuid, "URI": .uri, "Transformable": .transformable, "ObjectID": .objectID,
        "Composite": .composite,
    ]

    /// The attributes of the root element that only the editor reads, in its order.
    static let editorSettings = [
        "name", "type", "documentVersion", "lastSavedToolsVersion", "systemVersion", "minimumToolsVersion",
        "macOSVersion", "iOSVersion", "sourceLanguage", "usedWithCloudKit", "usedWithSwiftData",
    ]

    static let deleteRules: [String: DeleteRuleKind] = [
        "No Action": .noAction, "Nullify": .nullify, "Cascade": .cascade, "Deny": .deny,
    ]

    /// The word of a type.
    static func name(of kind: AttributeKind) -> String {
        attributeKinds.first { $0.value == kind }?.key ?? "Undefined"
    }

    /// The word of a delete rule.
    static func name(of rule: DeleteRuleKind) -> String {
        deleteRules.first { $0.value == rule }?.key ?? "Nullify"
    }

    /// The default value of an attribute of that type; `nil` if there is none.
    static func defaultValue(
        _ element: inout SourceElement, type: AttributeKind, name: String
    ) throws -> ValueDocument? {
        let interval = element.text("defaultDateTimeInterval")
        let text = element.text("defaultValueString")
        switch type {
        case .date:
            return try interval.map { try date($0, in: element, name: name, what: "default") }
        case .string, .undefined, .transformable:
            return text.map(ValueDocument.string)
        case .uri:
            return text.map(ValueDocument.uri)
        case .uuid:
            guard let text, !text.isEmpty else { return nil }
            guard let uuid = UUID(uuidString: text) else {
                throw mismatch(text, in: element, name, "default", "a UUID")
            }
            return .uuid(uuid)
        case .boolean:
            guard let text, !text.isEmpty else { return nil }
            switch text.lowercased() {
            case "yes", "true", "1": return .boolean(true)
            case "no", "false", "0": return .boolean(false)
            default: throw mismatch(text, in: element, name, "default", "YES or NO")
            }
        case .integer16, .integer32, .integer64, .double, .float, .decimal:
            guard let text, !text.isEmpty else { return nil }
            // Left over from a Boolean attribute that became a number.
            if let flag = ["yes": 1, "true": 1, "no": 0, "false": 0][text.lowercased()] {
                return type == .decimal
                    ? .decimal(Decimal(flag)) : isWhole(type) ? .integer(Int64(flag)) : .real(Double(flag))
            }
            return try number(text, type: type, in: element, name: name, what: "default")
        case .binary, .objectID, .composite:
            return nil
        }
    }

    /// The limits of an attribute of that type.
    static func validations(
        _ element: inout SourceElement, type: AttributeKind, name: String
    ) throws -> [ValidationDocument] {
        let limits = (element.text("minValueString"), element.text("maxValueString"))
        let dates = (element.text("minDateTimeInterval"), element.text("maxDateTimeInterval"))
        let pattern = element.text("regularExpressionString")
        switch type {
        case .string:
            let shortest = try limits.0.map { try length($0, in: element, name: name, what: "minimum length") }
            let longest = try limits.1.map { try length($0, in: element, name: name, what: "maximum length") }
            return [
                shortest.map(ValidationDocument.minimumLength), longest.map(ValidationDocument.maximumLength),
                pattern.map(ValidationDocument.pattern),
            ].compactMap { $0 }
        case .date:
            let earliest = try dates.0.map { try date($0, in: element, name: name, what: "minimum") }
            let latest = try dates.1.map { try date($0, in: element, name: name, what: "maximum") }
            return [earliest.map(ValidationDocument.minimum), latest.map(ValidationDocument.maximum)].compactMap { $0 }
        case .integer16, .integer32, .integer64, .double, .float, .decimal:
            let least = try limits.0.map { try number($0, type: type, in: element, name: name, what: "minimum") }
            let greatest = try limits.1.map { try number($0, type: type, in: element, name: name, what: "maximum") }
            return [least.map(ValidationDocument.minimum), greatest.map(ValidationDocument.maximum)].compactMap { $0 }
        default:
            return []
        }
    }

    private static func isWhole(_ type: AttributeKind) -> Bool { [.integer16, .integer32, .integer64].contains(type) }

    private static func date(
        _ text: String, in element: SourceElement, name: String, what: String
    ) throws -> ValueDocument {
        guard let seconds = Double(text), seconds.isFinite else {
            throw mismatch(text, in: element, name, what, "a number of seconds since 2001")
        }
        return .date(seconds)
    }

    private static func length(_ text: String, in element: SourceElement, name: String, what: String) throws -> Int {
        guard let number = Int(text) ?? Double(text).flatMap(Int.init(exactly:)), number >= 0 else {
            throw mismatch(text, in: element, name, what, "a length")
        }
        return number
    }

    private static func number(
        _ text: String, type: AttributeKind, in element: SourceElement, name: String, what: String
    ) throws -> ValueDocument {
        switch type {
        case .decimal:
            guard let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), value.isFinite else {
                throw mismatch(text, in: element, name, what, "a decimal number")
            }
            return .decimal(value)
        case .double, .float:
            guard let value = Double(text), value.isFinite else {
                throw mismatch(text, in: element, name, what, "a number")
            }
            return .real(value)
        default:
            // Xcode leaves "0.0" in an attribute that changed from Double to Integer.
            guard let value = Int64(text) ?? Double(text).flatMap(Int64.init(exactly:)) else {
                throw mismatch(text, in: element, name, what, "a whole number")
            }
            return .integer(value)
        }
    }

    private static func mismatch(
        _ text: String, in element: SourceElement, _ name: String, _ what: String, _ wanted: String
    ) -> ModelFileError {
        element.error("the \(what) of the attribute '\(name)' must be \(wanted), not '\(text)'")
    }
}
