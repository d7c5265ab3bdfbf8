import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Results of a fetch: order, sections, accessors, errors. The numbers are those of the conformance cases.
@Suite struct ControllerFetchTests {
    @Test func case1_objectsInOrderAndOneSection() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            let controller = staff.controller(section: nil, sort: ["salary"])
            try controller.performFetch()
            #expect(controller.text == "Bob Sam Alice")
            #expect(controller.sections?.count == 1)
            #expect(controller.indexPath(forObject: try staff.find("Sam")) == IndexPath(row: 1, section: 0))
        }
    }

    @Test func case2_sectionsByKey() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            let controller = staff.controller()
            try controller.performFetch()
            #expect(controller.text == "E: Alice Bob | S: Sam")
            #expect(controller.sections?.map(\.numberOfObjects) == [2, 1])
        }
    }

    @Test func idsOfARangeOfRows() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            staff.employee("Tim", "S", 1)
            let controller = staff.controller()
            try controller.performFetch()
            let objects = try #require(controller.fetchedObjects)
            #expect(controller.objectIDs(at: 0..<4) == objects.map(\.objectID))
            #expect(controller.objectIDs(at: 1..<3) == objects[1..<3].map(\.objectID))
            #expect(controller.objectIDs(at: 4..<4) == [])
        }
    }

    @Test func case3And14And15_accessorsAgree() throws {
        try Staff.run { staff in
            for number in 0..<300 { staff.employee("N\(number % 70)", "T\(number % 11)", number) }
            let controller = staff.controller()
            try controller.performFetch()
            #expect(controller.contradiction() == nil)
            try staff.context.save()
            try controller.performFetch()
            #expect(controller.contradiction() == nil)
            #expect(controller.sections?.count == 11)
        }
    }

    @Test func case4_nothingBeforeTheFetch() throws {
        try Staff.run { staff in
            let controller = staff.controller()
            #expect(controller.fetchedObjects == nil)
            #expect(controller.sections == nil)
        }
    }

    @Test(.needs(.process)) func case5_sortDescriptorsAreRequired() async {
        await #expect(processExitsWith: .failure) {
            try Staff.run { staff in
                _ = NSFetchedResultsController(
                    fetchRequest: staff.request(nil), managedObjectContext: staff.context, sectionNameKeyPath: nil,
                    cacheName: nil)
            }
        }
    }

    @Test func case6_noSortDescriptorsWillDo() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            let controller = staff.controller(section: nil, sort: [])
            try controller.performFetch()
            #expect(controller.fetchedObjects?.count == 3)
        }
    }

    @Test func case7And8_scatteredSectionsAreRefused() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            let controller = staff.controller(sort: ["salary"])
            let error = #expect(throws: NSError.self) { try controller.performFetch() }
            #expect(error?.domain == NSCocoaErrorDomain && error?.code == 134060)
            let reason = error?.userInfo["reason"] as? String ?? ""
            #expect(reason.contains("index 2 ") && reason.contains("'E'"))
            #expect(controller.sections == nil)
        }
    }

    @Test func case9_computedSectionKeyThatFollowsTheOrder() throws {
        let name = NSAttributeDescription()
        (name.name, name.attributeType, name.isOptional) = ("name", .stringAttributeType, true)
        let entity = NSEntityDescription()
        (entity.name, entity.managedObjectClassName) = ("Person", NSStringFromClass(NamedPerson.self))
        entity.properties = [name]
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("people-\(UUID().uuidString).sqlite")
        let store = try coordinator.addPersistentStore(type: .sqlite, at: url)
        defer {
            try? coordinator.remove(store)
            for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) }
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            func add(_ name: String) {
                NSEntityDescription.insertNewObject(forEntityName: "Person", into: context).setValue(
                    name, forKey: "name")
            }
            for name in ["bob", "Ann", "Amy", "Cid"] { add(name) }
            try context.save()
            context.reset()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
            request.sortDescriptors = [
                NSSortDescriptor(key: "name", ascending: true, selector: .caseInsensitiveCompare)
            ]
            let controller = NSFetchedResultsController(
                fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "initial", cacheName: nil)
            let recorder = Recorder()
            controller.delegate = recorder
            try controller.performFetch()
            recorder.load(controller)
            #expect(controller.text == "A: Amy Ann | B: bob | C: Cid")
            add("Bea")
            controller.object(at: IndexPath(row: 0, section: 2)).setValue("dan", forKey: "name")
            context.processPendingChanges()
            #expect(controller.text == "A: Amy Ann | B: Bea bob | D: dan")
            #expect(recorder.violations == [])
        }
    }

    @Test func case10_sectionsOverARelationship() throws {
        try Staff.run { staff in
            let (alice, bob, sam) = try staff.savedThree()
            let (sales, art) = (staff.department("Sales"), staff.department("Art"))
            alice.setValue(sales, forKey: "department")
            bob.setValue(art, forKey: "department")
            sam.setValue(sales, forKey: "department")
            let controller = staff.controller(section: "department.name", sort: ["department.name", "name"])
            try controller.performFetch()
            #expect(controller.text == "Art: Bob | Sales: Alice Sam")
            try staff.context.save()
            try controller.performFetch()
            #expect(controller.text == "Art: Bob | Sales: Alice Sam")
        }
    }

    @Test func case11_emptyLists() throws {
        try Staff.run { staff in
            let sectioned = staff.controller()
            try sectioned.performFetch()
            #expect(sectioned.sections?.isEmpty == true && sectioned.fetchedObjects?.isEmpty == true)
            let flat = staff.controller(section: nil)
            try flat.performFetch()
            #expect(flat.sections?.count == 1 && flat.sections?[0].numberOfObjects == 0)
        }
    }

    @Test func case12And13_namesOfBooleanAndUnsetSections() throws {
        try Staff.run { staff in
            staff.employee("Ann", nil).setValue(false, forKey: "isActive")
            staff.employee("Bob", "E")
            try staff.context.save()
            let active = staff.controller(section: "isActive", sort: ["isActive", "name"])
            try active.performFetch()
            #expect(active.text == "0: Ann | 1: Bob")
            let teams = staff.controller()
            try teams.performFetch()
            #expect(teams.text == ": Ann | E: Bob")
        }
    }

    @Test(.needs(.process)) func case16_placesPastTheEndStopTheProgram() async {
        await #expect(processExitsWith: .failure) {
            try Staff.run { staff in
                _ = try staff.savedThree()
                let controller = staff.controller()
                try controller.performFetch()
                _ = controller.object(at: IndexPath(row: 2, section: 0))
            }
        }
    }

    @Test func case17_unknownObjectsHaveNoPath() throws {
        try Staff.run { staff in
            let (alice, _, _) = try staff.savedThree()
            let controller = staff.controller(where: "salary < 3")
            try controller.performFetch()
            #expect(controller.indexPath(forObject: alice) == nil)
            #expect(controller.indexPath(forObject: staff.employee("New", "E")) == nil)
            #expect(controller.indexPath(forObject: staff.department("D")) == nil)
        }
    }

    @Test func case18_indexTitleIsTheFirstLetterAsACapital() throws {
        try Staff.run { staff in
            staff.employee("Ann", "élan")
            let controller = staff.controller()
            try controller.performFetch()
            #expect(controller.sections?.first?.indexTitle == "É")
        }
    }

    @Test func case19And24_indexTitlesOfTheDelegateTurnNoTrackingOn() throws {
        final class Titles: NSObject, NSFetchedResultsControllerDelegate {
            func controller(
                _ controller: NSFetchedResultsController<NSFetchRequestResult>,
                sectionIndexTitleForSectionName sectionName: String
            ) -> String? { "*\(sectionName)" }
        }
        try Staff.run { staff in
            let (alice, _, _) = try staff.savedThree()
            for section in ["team", nil] {
                let controller = staff.controller(section: section)
                let delegate = Titles()
                controller.delegate = delegate
                try controller.performFetch()
                let before = controller.fetchedObjects?.count
                let path = controller.indexPath(forObject: alice)
                if section != nil { #expect(controller.sectionIndexTitles == ["*E", "*S"]) }
                staff.employee("Zoe", "E")
                staff.context.processPendingChanges()
                alice.setValue("Zed\(section ?? "")", forKey: "name")
                staff.employee("Yan", "A")
                staff.context.processPendingChanges()
                #expect(controller.fetchedObjects?.count == before)
                #expect(controller.indexPath(forObject: alice) == path)
                try controller.performFetch()
                #expect(controller.fetchedObjects?.count == (section != nil ? 5 : 7))
            }
        }
    }

    @Test func case20_indexTitlesAreTakenOnce() throws {
        try Staff.run { staff in
            for team in ["Amy", "Ann", "Bob"] { staff.employee("X", team) }
            let controller = staff.controller()
            try controller.performFetch()
            #expect(controller.sectionIndexTitles == ["A", "B"])
            #expect(controller.section(forSectionIndexTitle: "B", at: 1) == 2)
            #expect(controller.section(forSectionIndexTitle: "A", at: 0) == 0)
        }
    }

    @Test func case21_subclassesChooseIndexTitles() throws {
        final class Numbered: NSFetchedResultsController<NSManagedObject> {
            override func sectionIndexTitle(forSectionName sectionName: String) -> String? { "#\(sectionName)" }
        }
        try Staff.run { staff in
            _ = try staff.savedThree()
            let controller = Numbered(
                fetchRequest: staff.request(["team"]), managedObjectContext: staff.context, sectionNameKeyPath: "team",
                cacheName: nil)
            try controller.performFetch()
            #expect(controller.sectionIndexTitles == ["#E", "#S"])
        }
    }

    @Test func case81_changedRequestIsFetchedAgain() throws {
        try Staff.run { staff in
            _ = try staff.savedThree()
            let controller = staff.controller()
            try controller.performFetch()
            controller.fetchRequest.predicate = NSPredicate(format: "salary > 1")
            controller.fetchRequest.sortDescriptors = [NSSortDescriptor(key: "team", ascending: false)]
            try controller.performFetch()
            #expect(controller.text == "S: Sam | E: Alice")
        }
    }

    @Test func limitAndOffsetCountInSections() throws {
        try Staff.run { staff in
            for number in 0..<10 { staff.employee("N\(number)", number < 4 ? "A" : "B") }
            for isSaved in [false, true] {
                let controller = staff.controller()
                controller.fetchRequest.fetchOffset = 3
                controller.fetchRequest.fetchLimit = 3
                try controller.performFetch()
                #expect(controller.text == "A: N3 | B: N4 N5", "saved: \(isSaved)")
                try staff.context.save()
            }
        }
    }

    @Test func otherResultTypes() throws {
        try Staff.run { staff in
            let (alice, bob, sam) = try staff.savedThree()
            let ids = NSFetchRequest<NSManagedObjectID>(entityName: "Employee")
            ids.resultType = .managedObjectIDResultType
            ids.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let first = NSFetchedResultsController(
                fetchRequest: ids, managedObjectContext: staff.context, sectionNameKeyPath: nil, cacheName: nil)
            try first.performFetch()
            #expect(first.fetchedObjects == [alice, bob, sam].map(\.objectID))
            #expect(first.indexPath(forObject: sam.objectID) == IndexPath(row: 2, section: 0))
            let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Employee")
            dictionaries.resultType = .dictionaryResultType
            dictionaries.propertiesToFetch = ["team", "name"]
            dictionaries.sortDescriptors = [NSSortDescriptor(key: "team", ascending: false)]
            let second = NSFetchedResultsController(
                fetchRequest: dictionaries, managedObjectContext: staff.context, sectionNameKeyPath: "team",
                cacheName: nil)
            try second.performFetch()
            #expect(second.sections?.map(\.name) == ["S", "E"])
            #expect(second.object(at: IndexPath(row: 0, section: 0))["name"] as? String == "Sam")
        }
    }
}

/// A person whose initial only the class computes.
final class NamedPerson: NSManagedObject {
    override func value(forUndefinedKey key: String) -> Any? {
        key == "initial" ? (value(forKey: "name") as? String)?.prefix(1).uppercased() : nil
    }
}
