import CoreData
import Foundation

/// The error of a record that could not be imported: its record, key path, value and reason.
///
/// As an `NSError` it has the Cocoa domain and code 1550, with key path and value under `NSValidationKeyErrorKey` and
/// `NSValidationValueErrorKey`. An addition to Apple's interface.
public struct RecordImportError: LocalizedError, CustomNSError {
    /// The index of the record in the call, counted from 0.
    public let record: Int
    /// The path from the record to the property with the error: `location.latitude`; empty for the record itself.
    public let keyPath: String
    /// The record's value for the property; `nil` if there is none.
    public let value: ImportValue?
    /// The end of a sentence that begins with key path and value: `is not a whole number`.
    public let reason: String
    /// True if the structure is invalid regardless of the store's contents, as for an unknown key.
    public let isMalformed: Bool

    /// `record 3: wins: “abc” is not a whole number`, with records counted from 1.
    public var errorDescription: String? {
        let shown = value.map { " " + Self.shown($0) } ?? ""
        return "record \(record + 1): \(keyPath.isEmpty ? "it" : keyPath):\(shown) \(reason)"
    }

    /// `NSCocoaErrorDomain`.
    public static var errorDomain: String { NSCocoaErrorDomain }
    /// `NSManagedObjectValidationError` (1550).
    public var errorCode: Int { NSManagedObjectValidationError }
    /// The description, and the key path and value under the keys of validation errors.
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

/// An error in a value, before its position is known.
package struct ImportProblem: Error {
    var keyPath = ""
    var value: ImportValue?
    let reason: String
    var isMalformed = false

    package init(keyPath: String = "", value: ImportValue? = nil, reason: String, isMalformed: Bool = false) {
        (self.keyPath, self.value, self.reason, self.isMalformed) = (keyPath, value, reason, isMalformed)
    }

    /// Returns the problem with the property added at the front of its key path.
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
