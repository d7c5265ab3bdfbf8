import Foundation

/// The results of a fetch request as a list that follows its context: grouped in sections, and with exact changes for a
/// delegate.
///
/// `performFetch()` finds the rows; they are kept as numbers, and objects are made when they are asked for. From then on,
/// while there is a delegate that implements one of the tracking methods, the list follows every change that the context
/// processes, at a cost of O(k log n) for k changed objects. It also follows for a stream
/// (``changes``), a view made of it, or with ``followsChanges``. Without any of these it stays as it was fetched.
///
/// Limit and offset of the request are followed as well: a row that is pushed out of the window is told as deleted, and the
/// one that comes in as inserted. That costs O(rows up to the window's end) for each batch.
///
/// Belongs to the queue of its context; delegates are called there. The request must have sort descriptors (an empty array
/// will do), and with sections the first of them must put the objects of a section together.
///
/// Nothing of a controller depends on its result type, which only says what the accessors cast to.
open class NSFetchedResultsController<ResultType: NSFetchRequestResult>: NSObject {
    final let tracker: ResultsTracker
    private final let request: NSFetchRequest<ResultType>

    /// A list that is still empty.
    ///
    /// - Parameters:
    ///   - fetchRequest: what to find. It may be changed later; the next `performFetch()` goes by it.
    ///   - context: where to fetch, and whose changes to follow.
    ///   - sectionNameKeyPath: the key path, also over to-one relationships, of the value that names an object's section;
    ///     `nil` for one section without a name.
    ///   - name: the name under which sections and order are kept on disk, so that the next launch need not fetch; `nil`
    ///     for none.
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

    /// What is found, and in which order.
    open var fetchRequest: NSFetchRequest<ResultType> { request }
    /// Where objects come from and whose changes are followed.
    open var managedObjectContext: NSManagedObjectContext { tracker.context }
    /// The key path of the value that names an object's section.
    open var sectionNameKeyPath: String? { tracker.sectionNameKeyPath }
    /// The name under which sections and order are kept on disk.
    open var cacheName: String? { tracker.cacheName }

    /// The receiver of changes. Not retained.
    open weak var delegate: (any NSFetchedResultsControllerDelegate)? {
        didSet { tracker.delegateChanged(from: oldValue, to: delegate) }
    }

    /// Whether a change of a related object that predicate, sort descriptors or section key path look at counts as a
    /// change of the objects that look at it. `true` by default; with `false` such changes go unnoticed, as in Apple's
    /// framework. Takes effect at the next `performFetch()`.
    public final var followsRelatedObjects: Bool {
        get { tracker.followsRelatedObjects }
        set { tracker.followsRelatedObjects = newValue }
    }

    /// How the objects are put into sections, whatever their sort: it takes the place of ``sectionNameKeyPath``. `nil` by
    /// default. An addition to Apple's interface. Takes effect at the next `performFetch()` or ``refetch(telling:reporting:)``.
    public final var sectionBy: SectionBy? {
        get { tracker.sectionBy }
        set { tracker.sectionBy = newValue }
    }

    /// Finds the objects, from the cache if that is still true. Call it again after the request was changed.
    ///
    /// The delegate hears nothing of it, unless it implements the snapshot method.
    ///
    /// - Throws: 134060 for a request that cannot be resolved, and when the objects of a section do not stand together;
    ///   the store's error where it cannot be read, such as 134080 or 134090. Then the controller has no contents.
    open func performFetch() throws { try tracker.performFetch() }

    // MARK: Contents

    /// All objects in order; `nil` before the fetch. Makes one object for each row, as faults: O(n) after each change.
    open var fetchedObjects: [ResultType]? { tracker.fetchedObjects?.map(Self.cast) }

    /// The object at `indexPath`. O(log n).
    ///
    /// - Precondition: The list has that place.
    open func object(at indexPath: IndexPath) -> ResultType { Self.cast(tracker.object(at: indexPath)) }

    /// The IDs of the objects at some positions of the whole list, counted from 0 over all sections. Makes no objects and
    /// reads nothing: O(k + log n). An addition to Apple's interface, for programs that go through long lists.
    ///
    /// - Precondition: The list has these positions, and its request finds objects or IDs.
    public final func objectIDs(at positions: Range<Int>) -> [NSManagedObjectID] { tracker.objectIDs(at: positions) }

    /// Where `object` is; `nil` if it is not in the list. O(log n); the first call after a fetch is O(n).
    open func indexPath(forObject object: ResultType) -> IndexPath? { tracker.indexPath(of: object) }

    // MARK: Sections

    /// The sections in order; `nil` before the fetch. Without a section key path there is always exactly one.
    open var sections: [any NSFetchedResultsSectionInfo]? { tracker.sections }

    /// The title of a section in the index: what the delegate says, else the first letter of the name as a capital.
    /// Override it for other titles. Asked once for each section after a fetch.
    open func sectionIndexTitle(forSectionName sectionName: String) -> String? {
        tracker.indexTitle(ofSectionNamed: sectionName)
    }

    /// The titles of the index: those of the sections, each once.
    open var sectionIndexTitles: [String] { tracker.index.titles }

    /// The first section of a title of the index.
    ///
    /// - Parameters:
    ///   - title: one of ``sectionIndexTitles``.
    ///   - sectionIndex: its place there; used when the title is not known.
    /// - Precondition: The index has such a title or place.
    open func section(forSectionIndexTitle title: String, at sectionIndex: Int) -> Int {
        tracker.index.section(forTitle: title, at: sectionIndex)
    }

    // MARK: Cache

    /// Deletes what is kept on disk under `name`; with `nil`, everything that this program keeps for its controllers. On any
    /// thread.
    open class func deleteCache(withName name: String?) { ResultsCache.delete(named: name) }

    // MARK: Types

    /// The same controller, seen without its result type.
    private var erased: NSFetchedResultsController<NSFetchRequestResult> { respecialised(self) }

    private static func cast(_ result: AnyObject) -> ResultType {
        guard let typed = result as? ResultType else {
            preconditionFailure("The controller finds \(type(of: result)), not \(ResultType.self).")
        }
        return typed
    }
}
