/// A section of a results controller.
///
/// A live view: it always describes the current section. A deleted section has no objects. Used on the queue of the
/// controller's context.
public protocol NSFetchedResultsSectionInfo {
    /// The section's name: the text of the value at the section key path; `""` if that is `nil`.
    var name: String { get }
    /// The section's title in the index.
    var indexTitle: String? { get }
    /// The number of objects in the section. O(log n).
    var numberOfObjects: Int { get }
    /// The objects of the section, in order. Makes all of them: O(objects).
    var objects: [Any]? { get }
}

extension NSFetchedResultsSectionInfo {
    /// The value of the section, in a list whose sections are made by ``SectionBy``; otherwise its name as a text. An
    /// addition to Apple's interface.
    public var value: SectionValue {
        (self as? ResultsSection)?.typedValue ?? (name.isEmpty ? .missing : .text(name))
    }
}

/// The kind of change of an object or section of a results controller.
public enum NSFetchedResultsChangeType: UInt, Sendable {
    /// An object or a section was inserted.
    case insert = 1
    /// An object or a section was deleted.
    case delete = 2
    /// An object moved: others that did not change precede it now, or it is in another section.
    case move = 3
    /// An object changed and kept its place.
    case update = 4
}
