/// Whether a class overrides `validateValue(_:forKey:)`.
///
/// The method takes values as objects; making these for each attribute of each object takes as long as writing the row.
/// Most classes do not override it, and then no code would see them. Swift has no question for this, but the answer
/// stands in the class: a table of functions, in which a subclass has another one at the place of each method that it
/// overrides. The place is found by comparing two subclasses that differ in nothing else. Where that does not give
/// exactly one place, every class counts as one that overrides the method.
enum ValidationOverride {
    /// Overrides nothing.
    private final class Plain: NSManagedObject {}

    private final class Overriding: NSManagedObject {
        // SAFETY: there are no objects of the class, so that it is never called.
        override func validateValue(
            _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
        ) throws {
            preconditionFailure("There are no objects of this class: \(key) cannot be validated.")
        }
    }

    static func exists(in type: NSManagedObject.Type) -> Bool {
        if type == NSManagedObject.self { return false }
        guard let place else { return true }
        return word(place, of: type) != word(place, of: NSManagedObject.self)
    }

    private static let place: Int? = {
        let places = (firstMember..<wordCount(of: NSManagedObject.self)).filter { place in
            let own = word(place, of: NSManagedObject.self)
            return word(place, of: Plain.self) == own && word(place, of: Overriding.self) != own
        }
        return places.count == 1 ? places[0] : nil
    }()

    // How a class is laid out (docs/ABI/TypeMetadata in Swift's repository, without Objective-C): kind, superclass, flags and
    // address point, the instances' size, the class's own size and address point, descriptor, destroyer, then members.
    private static let sizes = 4
    private static let firstMember = 7

    // SAFETY: metadata of classes are never freed, and begin with the words that the ABI document names; `wordCount`
    // bounds what is read after these by the size that the class itself says, and a result that does not fit is not
    // used.
    private static func words(of type: AnyClass) -> UnsafePointer<UInt> {
        unsafeBitCast(type, to: UnsafePointer<UInt>.self)
    }

    private static func word(_ place: Int, of type: AnyClass) -> UInt { words(of: type)[place] }

    private static func wordCount(of type: AnyClass) -> Int {
        let size = word(sizes, of: type)
        let bytes = Int(UInt32(truncatingIfNeeded: size)) - Int(UInt32(truncatingIfNeeded: size >> 32))
        return max(firstMember, min(bytes / MemoryLayout<UInt>.size, 1024))
    }
}
