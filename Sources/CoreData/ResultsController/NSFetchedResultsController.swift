import Foundation

/// The results of a fetch request as a list that follows its context, divided into sections, with exact changes for a
/// delegate.
///
/// `performFetch()` finds the rows; they are kept as numbers, and objects are made on demand. Afterwards, if the
/// delegate implements one of the tracking methods, the list follows every change that the context processes, at a cost
/// of O(k log n) for k changed objects. It also follows changes while ``changes`` or ``snapshots`` has a reader, or
/// with ``followsChanges``. Without any of these it does not change after the fetch.
///
/// Changes respect the request's limit and offset: a row that leaves the window is reported as deleted, and the row
/// that enters it as inserted. That costs O(rows up to the window's end) for each batch.
///
/// Belongs to the queue of its context; delegates are called there. The request must have sort descriptors (an empty
/// array is allowed), and with sections the first one must make the objects of a section adjacent.
///
/// The result type only determines the type that the accessors cast to.
open class NSFetchedResultsController<ResultType: NSFetchRequestResult>: NSObject {
    final let tracker: ResultsTracker
    private final let request: NSFetchRequest<ResultType>

    /// Creates an empty list.
    ///
    /// - Parameters:
    ///   - fetchRequest: the request. It may be changed later; the next `performFetch()` uses the changes.
    ///   - context: the context to fetch from, and whose changes are followed.
    ///   - sectionNameKeyPath: the key path, also over to-one relationships, of the value that names an object's
    ///     section; `nil` for one section without a name.
    ///   - name: the name under which sections and order are kept on disk, so that the next launch need not fetch;
    ///     `nil` for no cache.
    /// - Precondition: The request has sort descriptors.
    public init(
        fetchRequest: NSFetchRequest<ResultType>, managedObjectContext context: NSManagedObjectContext,
        sectionNameKeyPath: String?, cacheName name: String?
    ) {
        request = fetchRequest
        tracker = ResultsTracker(
            request: fetchRequest.erased, context: context, sectionNameKeyPath: sectionNameKeyPath, cacheName: name)
        super.init()
        tracker.attach(to: erased, named: String(describing: type(of: self)))
    }

    deinit { tracker.detach() }

    /// The request that finds and sorts the objects.
    open var fetchRequest: NSFetchRequest<ResultType> { request }
    /// The context of the objects, whose changes are followed.
    open var managedObjectContext: NSManagedObjectContext { tracker.context }
    /// The key path of the value that names an object's section.
    open var sectionNameKeyPath: String? { tracker.sectionNameKeyPath }
    /// The name under which sections and order are kept on disk.
    open var cacheName: String? { tracker.cacheName }

    /// The receiver of changes. Not retained.
    open weak var delegate: (any NSFetchedResultsControllerDelegate)? {
        didSet { tracker.delegateChanged(from: oldValue, to: delegate) }
    }

    /// If true, a fetched object also counts as changed when a related object changes that the predicate, sort
    /// descriptors or section key path read. `true` by default; with `false` such changes are ignored, as in Apple's
    /// framework. Takes effect at the next `performFetch()`.
    public final var followsRelatedObjects: Bool {
        get { tracker.followsRelatedObjects }
        set { tracker.followsRelatedObjects = newValue }
    }

    /// The rule that puts objects into sections, independent of their sort order. It replaces ``sectionNameKeyPath``.
    /// `nil` by default. An addition to Apple's interface. Takes effect at the next `performFetch()` or
    /// ``refetch(telling:reporting:)``.
    public final var sectionBy: SectionBy? {
        get { tracker.sectionBy }
        set { tracker.sectionBy = newValue }
    }

    /// Finds the objects, from the cache if that is up to date. Call it again after changing the request.
    ///
    /// The delegate is not notified, unless it implements the snapshot method.
    ///
    /// - Throws: 134060 for a request that cannot be resolved, and if the objects of a section are not adjacent; the
    ///   store's error if it cannot be read, such as 134080 or 134090. Then the controller has no contents.
    open func performFetch() throws { try tracker.performFetch() }

    // MARK: Contents

    /// All objects in order; `nil` before the fetch. Makes one object for each row, as faults: O(n) after each change.
    open var fetchedObjects: [ResultType]? { tracker.fetchedObjects?.map(Self.cast) }

    /// The object at `indexPath`. O(log n).
    ///
    /// - Precondition: The list has that index path.
    open func object(at indexPath: IndexPath) -> ResultType { Self.cast(tracker.object(at: indexPath)) }

    /// The IDs of the objects at some positions of the whole list, counted from 0 over all sections. Makes no objects
    /// and reads nothing: O(k + log n). An addition to Apple's interface, for programs that iterate over long lists.
    ///
    /// - Precondition: The list has these positions, and its request finds objects or IDs.
    public final func objectIDs(at positions: Range<Int>) -> [NSManagedObjectID] { tracker.objectIDs(at: positions) }

    /// The index path of `object`; `nil` if it is not in the list. O(log n); the first call after a fetch is O(n).
    open func indexPath(forObject object: ResultType) -> IndexPath? { tracker.indexPath(of: object) }

    // MARK: Sections

    /// The sections in order; `nil` before the fetch. Without a section key path there is always exactly one.
    open var sections: [any NSFetchedResultsSectionInfo]? { tracker.sections }

    /// The title of a section in the index: the delegate's title, otherwise the first letter of the name as a capital.
    /// Override it for other titles. Called once for each section after a fetch.
    open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
        tracker.indexTitle(ofSectionNamed: sectionName)
    }

    /// The titles of the index: those of the sections, each once.
    open var sectionIndexTitles: [String] { tracker.index.titles }

    /// The first section with an index title.
    ///
    /// - Parameters:
    ///   - title: one of ``sectionIndexTitles``.
    ///   - sectionIndex: the title's position there; used if the title is unknown.
    /// - Precondition: The index has that title or position.
    open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
        tracker.index.section(forTitle: title, at: sectionIndex)
    }

    // MARK: Cache

    /// Deletes the cache named `name`; with `nil`, all caches of this program's controllers. On any thread.
    open class func deleteCache(withName name: String?) { ResultsCache.delete(named: name) }

    // MARK: Types

    /// The same controller without its result type.
    private var erased: NSFetchedResultsController<NSFetchRequestResult> { respecialised(self) }

    private static func cast(_ result: AnyObject) -> ResultType {
        guard let typed = result as? ResultType else {
            preconditionFailure("The controller fetches \(type(of: result)), not \(ResultType.self).")
        }
        return typed
    }
}
