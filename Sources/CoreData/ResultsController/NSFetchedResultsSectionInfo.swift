/// A section of a results controller.
///
/// A live view: it always tells of the section as it is now. A section that is gone has no objects. Used on the queue of the
/// controller's context.
public protocol NSFetchedResultsSectionInfo {
    /// The section's name: the text of the value under the section key path; `""` where that is `nil`.
    var name: String { get }
    /// The section's title in the index.
    var indexTitle: String? { get }
    /// How many objects are in the section. O(log n).
    var numberOfObjects: Int { get }
    /// The objects of the section, in order. Makes them all: O(objects).
    var objects: [Any]? { get }
}

extension NSFetchedResultsSectionInfo {
    /// What the section stands for, in a list whose sections are made by ``SectionBy``; else its name as a text. An addition
    /// to Apple's interface.
    public var value: SectionValue {
        (self as? ResultsSection)?.typedValue ?? (name.isEmpty ? .missing : .text(name))
    }
}

/// What happened to an object or section of a results controller.
public enum NSFetchedResultsChangeType: UInt, Sendable {
    /// An object or a section came.
    case insert = 1
    /// An object or a section went.
    case delete = 2
    /// An object changed its place.
    case move = 3
    /// An object changed and kept its place.
    case update = 4
}
