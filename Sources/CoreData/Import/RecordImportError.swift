import Foundation

/// Why a record could not be imported: which one, which key, which value, and the reason.
///
/// As an `NSError` it is of the Cocoa domain with code 1550, with key and value under `NSValidationKey` and
/// `NSValidationValue`. An addition to Apple's interface.
public struct RecordImportError: LocalizedError, CustomNSError {
    /// The place of the record among those that were given, counted from 0.
    public let record: Int
    /// The property that could not be set, by its path from the record: `location.latitude`; empty where it is none.
    public let keyPath: String
    /// The record's value for it; `nil` where there is nothing.
    public let value: ImportValue?
    /// The end of a sentence that begins with key and value: `is not a whole number`.
    public let reason: String
    /// Whether the value can be none for this property, whatever the store holds.
    public let isMalformed: Bool

    /// `record 3: wins: “abc” is not a whole number`, the records counted from 1.
    public var errorDescription: String? {
        let shown = value.map { " " + Self.shown($0) } ?? ""
        return "record \(record + 1): \(keyPath.isEmpty ? "it" : keyPath):\(shown) \(reason)"
    }

    /// `NSCocoaErrorDomain`.
    public static var errorDomain: String { NSCocoaErrorDomain }
    /// `NSManagedObjectValidationError` (1550).
    public var errorCode: Int { NSManagedObjectValidationError }
    /// The description, and the key and the value as errors of validation have them.
    public var errorUserInfo: [String: Any] {
        var info: [String: Any] = [NSLocalizedDescriptionKey: errorDescription ?? reason]
        info[NSValidationKeyErrorKey] = keyPath
        if let value { info[NSValidationValueErrorKey] = Self.shown(value) }
        return info
    }

    private static func shown(_ value: ImportValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let flag): "\(flag)"
        case .number(let digits): String(digits.prefix(60))
        case .string(let text): "“\(text.prefix(60))”"
        case .array: "a list"
        case .object: "a record"
        }
    }
}

/// What is wrong with a value, before it is known where it stands.
package struct ImportProblem: Error {
    var keyPath = ""
    var value: ImportValue?
    let reason: String
    var isMalformed = false

    package init(keyPath: String = "", value: ImportValue? = nil, reason: String, isMalformed: Bool = false) {
        (self.keyPath, self.value, self.reason, self.isMalformed) = (keyPath, value, reason, isMalformed)
    }

    /// The same with the property in front of its key path.
    func below(_ key: String, value: ImportValue?) -> ImportProblem {
        var problem = self
        problem.keyPath = keyPath.isEmpty ? key : key + "." + keyPath
        if keyPath.isEmpty { problem.value = value }
        return problem
    }

    func error(record: Int) -> RecordImportError {
        RecordImportError(record: record, keyPath: keyPath, value: value, reason: reason, isMalformed: isMalformed)
    }
}
