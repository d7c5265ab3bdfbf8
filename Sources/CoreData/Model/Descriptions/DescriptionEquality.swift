import Foundation
import ModelFiles

/// Compares descriptions by value: two are equal if a model file would describe them alike.
///
/// Hashes use only names, so they stay cheap if descriptions are keys. An object that cannot be written, such as a
/// block, equals only itself.
enum DescriptionEquality {
    static func areEqual(_ left: NSManagedObjectModel, _ right: NSManagedObjectModel?) -> Bool {
        compare(left, right) { try ModelDisassembly.document(of: $0) }
    }

    static func areEqual(_ left: NSEntityDescription, _ right: NSEntityDescription?) -> Bool {
        compare(left, right) { try ModelDisassembly.document(of: $0) }
    }

    /// Properties of different entities may be equal.
    static func areEqual(_ left: NSPropertyDescription, _ right: NSPropertyDescription?) -> Bool {
        guard left.name == right?.name else { return false }
        return compare(left, right) { try ModelDisassembly.document(of: $0) }
    }

    private static func compare<Description: AnyObject, Document: Equatable>(
        _ left: Description, _ right: Description?, _ document: (Description) throws -> Document
    ) -> Bool {
        guard let right else { return false }
        if left === right { return true }
        guard type(of: left) == type(of: right), let one = try? document(left), let other = try? document(right) else {
            return false
        }
        return one == other
    }
}
