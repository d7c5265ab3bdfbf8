import CoreData
import Testing

// Roster's own tests build this package as one module.
#if canImport(Introductions)
    @testable import Introductions
#endif

/// A folder that is removed after the test.
final class Folder {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("introductions-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }
}

private let devNull = URL(fileURLWithPath: "/dev/null")

/// Programs from introductions to Core Data, each in its final form.
@MainActor @Suite struct IntroductionsTests {
    @Test func studentsTakeACourse() throws {
        let list = try StudentList(storeURL: devNull)
        let ada = try list.add("Ada", age: 20, to: "Algebra")
        try list.add("Emmy", age: 22, to: "Algebra")
        try list.add("Grace", age: 21, to: "Compilers")
        #expect(ada.course?.students?.count == 2)
        #expect(try list.names(in: "Algebra") == ["Ada", "Emmy"])
        #expect(try list.students(named: "Grace").map(\.course?.title) == ["Compilers"])
        #expect(try list.students(named: "Nobody").isEmpty)

        try list.setAge(30)
        #expect(try list.students(named: "Emmy").first?.age == 30)
        try list.setGrade(100, of: ada)
        for (grade, code) in [(101, 1610), (-1, 1620)] as [(Int16, Int)] {
            let error = #expect(throws: (any Error).self) { try list.setGrade(grade, of: ada) }
            #expect((error as NSError?)?.code == code)
            #expect((error as NSError?)?.userInfo[NSValidationKeyErrorKey] as? String == "grade")
            #expect(ada.grade == 100)
        }

        try list.deleteAll()
        #expect(try list.names(in: "Algebra").isEmpty)
        #expect(try list.container.viewContext.count(for: Course.fetchRequest() as NSFetchRequest<Course>) == 2)
    }

    @Test func walksOfADogStayInOrder() throws {
        let folder = try Folder()
        let url = folder.url.appendingPathComponent("Kennel.sqlite")
        let days = (0..<3).map { Date(timeIntervalSinceReferenceDate: Double($0) * 86_400) }
        do {
            let walks = try WalkList(of: "Fido", in: CoreDataStack(modelName: "Kennel", storeURL: url))
            #expect(walks.count == 0)
            try walks.add(days[1])
            try walks.add(days[2])
            try walks.insertFirst(days[0])
            #expect((0..<walks.count).map { walks.walk(at: $0)?.date } == days)
            try walks.remove(at: 1)
        }
        // On another day: the same dog with its walks.
        let stack = CoreDataStack(modelName: "Kennel", storeURL: url)
        let walks = try WalkList(of: "Fido", in: stack)
        #expect((0..<walks.count).map { walks.walk(at: $0)?.date } == [days[0], days[2]])
        #expect(walks.walk(at: 0)?.dog == walks.currentDog)
        #expect(stack.managedObjectContext.registeredObjects.count { $0 is Dog } == 1)
        // Deleting the dog deletes its walks.
        stack.managedObjectContext.delete(walks.currentDog)
        try stack.saveContext()
        #expect(try stack.managedObjectContext.count(for: Walk.fetchRequest() as NSFetchRequest<Walk>) == 0)
    }

    /// Venues in an in-memory store.
    private func venues(_ count: Int = 4) throws -> NSManagedObjectContext {
        let context = PersistenceController(modelName: "Venues", storeURL: devNull).container.viewContext
        let known: [(String, String, Int32, Double)] = [
            ("Ärzte Café", "$", 3, 800), ("Zoo Tea", "$$", 5, 120), ("apple Tea", "$", 0, 950.5),
            ("Tea 10", "$$$", 7, 40),
        ]
        for number in 0..<count {
            let venue = Venue(context: context)
            let values = known[number % known.count]
            venue.name = number < known.count ? values.0 : "Venue \(number)"
            (venue.priceCategory, venue.specialCount) = (values.1, values.2)
            let location = Location(context: context)
            location.distance = values.3
            venue.location = location
        }
        try context.save()
        return context
    }

    @Test func venuesAreFilteredCountedAndSorted() throws {
        let context = try venues()
        let filter = VenueFilter(context: context)
        #expect(try filter.venues(named: "zoo tea").map(\.name) == ["Zoo Tea"])
        #expect(try filter.venues(named: "arzte cafe").count == 1)
        for (price, count) in ["$": 2, "$$": 1, "$$$": 1, "$$$$": 0] {
            #expect(try filter.fetchedCount(of: price) == count)
            #expect(try filter.count(of: price) == count)
        }
        #expect(try filter.totalSpecials() == 15)
        #expect(try filter.nearest(within: 900).map(\.name) == ["Tea 10", "Zoo Tea", "Ärzte Café"])
        #expect(try filter.byName().map(\.name) == ["apple Tea", "Ärzte Café", "Tea 10", "Zoo Tea"])
        #expect(try filter.byName(ascending: false).map(\.name) == ["Zoo Tea", "Tea 10", "Ärzte Café", "apple Tea"])

        let shown = try filter.byName()
        #expect(shown.allSatisfy { !$0.favorite })
        #expect(try filter.favorAll() == 4)
        #expect(shown.allSatisfy { !$0.favorite }, "a batch changes the store, not the objects")
        context.refreshAllObjects()
        #expect(shown.allSatisfy { $0.favorite })
    }

    @Test func aListIsReloadedWhenItsRowsAreThere() async throws {
        let list = VenueList(context: try venues(300))
        var reloads = 0
        func loaded(cancelled: Bool) async throws {
            let before = reloads
            try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
                list.reloadData = {
                    reloads += 1
                    done.resume()
                }
                do { try list.load() } catch { done.resume(throwing: error) }
            }
            #expect(reloads == before + 1)
        }
        try list.load()
        #expect(list.venues.isEmpty, "they come later")
        list.cancel()
        try await loaded(cancelled: false)
        #expect(list.venues.count == 300)
        #expect(list.venues.first?.name == "Tea 10")
        #expect(reloads == 1, "the load that was cancelled shows nothing")
        #expect(list.lastError == nil)
    }

    @Test func employeesAreCountedPerDepartment() throws {
        let context = PersistenceController(modelName: "Company", storeURL: devNull).container.viewContext
        for (name, staff) in ["Engineering": ["Ada", "Grace", "Linus"], "Design": ["Dieter"], "Empty": []] {
            let department = Department(context: context)
            department.name = name
            for person in staff {
                let employee = Employee(context: context)
                employee.name = person
                employee.active = person != "Linus"
                department.addToEmployees(employee)
            }
        }
        try context.save()
        let counts = try EmployeeDirectory(context: context).employeesPerDepartment()
        #expect(counts.map(\.department) == ["Design", "Engineering"])
        #expect(counts.map(\.count) == [1, 2])
    }

    @Test func aTapAddsAWinAndMovesOneRow() throws {
        let context = PersistenceController(modelName: "Championship", storeURL: devNull).container.viewContext
        let list = try TeamList(context: context)
        try list.addTeam("Japan", zone: "AFC")
        #expect(list.steps == ["insert section 0", "insert 0,0"])
        try list.addTeam("Brazil", zone: "CONMEBOL")
        try list.addTeam("Iran", zone: "AFC")
        #expect(list.steps == ["insert 0,0"])
        #expect(list.rows == ["AFC", "Iran 0", "Japan 0", "CONMEBOL", "Brazil 0"])
        // The last row of its zone moves to the top.
        try list.didSelectRow(at: IndexPath(row: 1, section: 0))
        #expect(list.steps == ["move 0,1 to 0,0"])
        #expect(list.rows == ["AFC", "Japan 1", "Iran 0", "CONMEBOL", "Brazil 0"])
        // A row that is first already does not move.
        try list.didSelectRow(at: IndexPath(row: 0, section: 0))
        #expect(list.steps == ["update 0,0"])
    }

    @Test func aStoreIsOpenedByEachKindOfStack() throws {
        let folder = try Folder()
        let url = folder.url.appendingPathComponent("School.sqlite")
        try StudentList(storeURL: url).add("Ada", age: 20, to: "Algebra")
        let controller = PersistenceController(modelName: "School", storeURL: url)
        #expect(try controller.container.viewContext.fetch(Student.fetchRequest()).map(\.name) == ["Ada"])
        let byHand = CoreDataStack(modelName: "School", storeURL: url)
        #expect(try byHand.managedObjectContext.fetch(Student.fetchRequest()).map(\.course?.title) == ["Algebra"])
    }
}
