import CoreData
import CoreDataImport
import Foundation
import Translation

/// Reason why a value does not fit an attribute: the end of a sentence that begins with the key and the value.
package struct ValueProblem: Error {
    package let reason: String
    /// True if the text cannot be a value in any store.
    var isMalformed = false
}

/// Parses an attribute's value from the text of a file or the command line, strictly by the attribute's type.
package enum ValueParser {
    /// - Returns: the value as the framework expects it; `nil` for NULL.
    /// - Throws: ``ValueProblem`` if it has the wrong type or is out of the type's range.
    package static func value(from json: JSONValue, for attribute: NSAttributeDescription) throws -> Any? {
        do {
            return try RecordImporter.value(of: json, for: attribute)
        } catch let error as RecordImportError {
            throw ValueProblem(reason: tr(error.reason))
        }
    }
}
