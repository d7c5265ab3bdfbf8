import CoreData

/// A class whose properties are generated as an extension of it.
public class Book: NSManagedObject {
    var isLong: Bool { (pages?.intValue ?? 0) > 300 }
}

/// A class that is written by hand, with a property of every kind.
final class Review: NSManagedObject {
    @Managed var data: Data?
    @Managed var decimal: NSDecimalNumber?
    @Managed var double: Double
    @Managed var facts: [String: Int]?
    @Managed var flag: Bool
    @Managed var float: Float
    @Managed var link: URL?
    @Managed var number: Int64
    @Managed var small: Int16
    @Managed var stars: Int32?
    @Managed var tags: [String]?
    @Managed var text: String?
    @Managed var token: UUID?
    @Managed var when: Date?
    @Managed var answers: NSOrderedSet?
    @Managed var book: Book?
    @Managed var question: Review?
}
