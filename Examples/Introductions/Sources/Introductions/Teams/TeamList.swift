import CoreData

/// Teams by zone, most wins first. A tap adds a win and the list updates.
@MainActor final class TeamList: NSObject, @MainActor NSFetchedResultsControllerDelegate {
    /// Updates that a table view would receive.
    private(set) var steps: [String] = []
    private let context: NSManagedObjectContext

    private lazy var fetchedResultsController: NSFetchedResultsController<Team> = {
        let fetchRequest: NSFetchRequest<Team> = Team.fetchRequest()
        let zoneSort = NSSortDescriptor(key: "qualifyingZone", ascending: true)
        let scoreSort = NSSortDescriptor(key: "wins", ascending: false)
        let nameSort = NSSortDescriptor(key: "teamName", ascending: true)
        fetchRequest.sortDescriptors = [zoneSort, scoreSort, nameSort]
        let fetchedResultsController = NSFetchedResultsController(
            fetchRequest: fetchRequest, managedObjectContext: context,
            sectionNameKeyPath: "qualifyingZone", cacheName: nil)
        fetchedResultsController.delegate = self
        return fetchedResultsController
    }()

    init(context: NSManagedObjectContext) throws {
        self.context = context
        super.init()
        try fetchedResultsController.performFetch()
    }

    /// The table as text: the name of each section followed by its rows.
    var rows: [String] {
        (fetchedResultsController.sections ?? []).flatMap { section in
            [section.name] + (section.objects as? [Team] ?? []).map { "\($0.teamName ?? "") \($0.wins)" }
        }
    }

    func didSelectRow(at indexPath: IndexPath) throws {
        let team = fetchedResultsController.object(at: indexPath)
        team.wins += 1
        try context.save()
    }

    func addTeam(_ name: String, zone: String) throws {
        let team = Team(context: context)
        team.teamName = name
        team.qualifyingZone = zone
        try context.save()
    }

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
        steps = []
    }

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
        at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
        let path = [indexPath, newIndexPath].map { $0.map { "\($0.section),\($0.row)" } ?? "-" }
        switch type {
        case .insert: steps.append("insert \(path[1])")
        case .delete: steps.append("delete \(path[0])")
        case .update: steps.append("update \(path[0])")
        case .move: steps.append("move \(path[0]) to \(path[1])")
        @unknown default: break
        }
    }

    func controller(
        _ controller: NSFetchedResultsController<NSFetchRequestResult>,
        didChange sectionInfo: any NSFetchedResultsSectionInfo, atSectionIndex sectionIndex: Int,
        for type: NSFetchedResultsChangeType
    ) {
        switch type {
        case .insert: steps.append("insert section \(sectionIndex)")
        case .delete: steps.append("delete section \(sectionIndex)")
        default: break
        }
    }
}
