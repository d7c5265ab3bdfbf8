import CoreData

/// A dog's walks, oldest first, with a stack made by hand.
@MainActor final class WalkList {
    private let stack: CoreDataStack
    private(set) var currentDog: Dog

    /// Finds the dog or inserts it.
    init(of name: String, in stack: CoreDataStack) throws {
        self.stack = stack
        let context = stack.managedObjectContext
        let dogFetch: NSFetchRequest<Dog> = Dog.fetchRequest()
        dogFetch.predicate = NSPredicate(format: "%K == %@", "name", name)
        let results = try context.fetch(dogFetch)
        if let found = results.first {
            currentDog = found
        } else {
            currentDog = Dog(context: context)
            currentDog.name = name
            try stack.saveContext()
        }
    }

    var count: Int { currentDog.walks?.count ?? 0 }

    func walk(at row: Int) -> Walk? { currentDog.walks?[row] as? Walk }

    func add(_ date: Date = Date()) throws {
        let walk = Walk(context: stack.managedObjectContext)
        walk.date = date
        currentDog.addToWalks(walk)
        try stack.saveContext()
    }

    /// Inserts a walk without generated accessors.
    func insertFirst(_ date: Date) throws {
        let walk = NSEntityDescription.insertNewObject(forEntityName: "Walk", into: stack.managedObjectContext)
        walk.setValue(date, forKey: "date")
        if let walks = currentDog.walks?.mutableCopy() as? NSMutableOrderedSet {
            walks.insert(walk, at: 0)
            currentDog.walks = walks
        }
        try stack.saveContext()
    }

    func remove(at row: Int) throws {
        guard let walk = walk(at: row) else { return }
        stack.managedObjectContext.delete(walk)
        try stack.saveContext()
    }
}
