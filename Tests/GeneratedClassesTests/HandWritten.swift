import CoreData

/// A hand-written class whose properties are generated as an extension.
public class Book: NSManagedObject {
    var isLong: Bool { (pages?.intValue ?? 0) > 300 }
}

/// A hand-written class with a property of every type.
public final class Review: NSManagedObject {
    @Managed public var data: Data?
    @Managed public var decimal: NSDecimalNumber?
    @Managed public var double: Double
    @Managed public var facts: [String: Int]?
    @Managed public var flag: Bool
    @Managed public var float: Float
    @Managed public var link: URL?
    @Managed public var number: Int64
    @Managed public var small: Int16
    @Managed public var stars: Int32?
    @Managed public var tags: [String]?
    @Managed public var text: String?
    @Managed public var token: UUID?
    @Managed public var when: Date?
    @Managed public var answers: NSOrderedSet?
    @Managed public var book: Book?
    @Managed public var question: Review?
}
