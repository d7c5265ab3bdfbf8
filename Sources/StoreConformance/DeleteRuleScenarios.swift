import CoreData
import Foundation

// The effects of a deletion on other rows.
extension StoreConformance {
    static let deleteRuleScenarios = [
        Scenario("follows the delete rules", followsDeleteRules),
        Scenario("refuses a deletion that a rule denies", refusesDeniedDeletions),
        Scenario("opens with references to deleted rows", opensWithDanglingReferences),
    ]

    /// Two folders: `work` has pages with remarks and two labels, `home` one of the labels and a page.
    private func fillFolders() throws {
        try inContext { context in
            let (work, home) = (context.make("Folder", named: "work"), context.make("Folder", named: "home"))
            for (folder, pages) in [(work, ["w1", "w2"]), (home, ["h1"])] {
                for name in pages {
                    let page = context.make("Page", named: name)
                    page.setValue(folder, forKey: "folder")
                    for number in 0..<2 {
                        context.make("Remark", named: "\(name).\(number)").setValue(page, forKey: "page")
                    }
                }
            }
            for name in ["red", "blue"] {
                context.make("Label", named: name).mutableSetValue(forKey: "folders").add(work)
            }
            try need(try context.named("Label")["blue"], "the label").mutableSetValue(forKey: "folders").add(home)
            try context.save()
        }
    }

    @Sendable private static func followsDeleteRules(_ stack: StoreConformance) throws {
        try stack.fillFolders()
        try stack.inContext { context in
            context.delete(try need(try context.named("Folder")["work"], "the folder"))
            try context.save()
        }
        try stack.inEachState { context in
            try expect(
                try context.ties(of: "Folder"), ["home": "labels: blue, pages: h1"], "the folders after a deletion")
            try expect(
                try context.ties(of: "Page"), ["h1": "folder: home, remarks: h1.0 h1.1"], "the pages that are left")
            try expect(
                try context.ties(of: "Remark"), ["h1.0": "page: h1", "h1.1": "page: h1"],
                "the remarks, to which the cascade leads over the pages")
            try expect(
                try context.ties(of: "Label"), ["red": "", "blue": "folders: home"], "the labels, which are nullified")
        }
        // Deleting the other ends has no effect on the folder.
        try stack.inContext { context in
            for entity in ["Page", "Label"] { try context.all(entity).forEach(context.delete) }
            try context.save()
        }
        try stack.inEachState { context in
            try expect(try context.ties(of: "Folder"), ["home": ""], "the folder after the other ends are gone")
            try expect(try context.counts("Page", "Remark", "Label"), [0, 0, 0], "the counts after it")
        }
    }

    @Sendable private static func refusesDeniedDeletions(_ stack: StoreConformance) throws {
        try stack.fillFolders()
        try stack.inContext { context in
            for name in ["first", "second"] {
                context.make("Lock", named: name).setValue(try context.named("Folder")["work"], forKey: "folder")
            }
            try context.save()
        }
        try stack.inContext { context in
            let work = try need(try context.named("Folder")["work"], "the folder")
            context.delete(work)
            _ = context.make("Label", named: "green")
            try expectError(NSValidationRelationshipDeniedDeleteError, "a save of a denied deletion") {
                try context.save()
            }
            try stack.inContext { other in
                try expect(
                    try other.counts("Folder", "Page", "Remark", "Lock", "Label"), [2, 3, 6, 2, 2],
                    "the rows after the save that was denied")
            }
            // One lock is released, the other one is deleted with the folder: then no rule denies the deletion.
            let locks = try context.named("Lock")
            locks["first"]?.setValue(nil, forKey: "folder")
            context.delete(try need(locks["second"], "the second lock"))
            try context.save()
        }
        try stack.inEachState { context in
            try expect(
                try context.counts("Folder", "Page", "Remark", "Lock", "Label"), [1, 1, 2, 1, 3],
                "the rows after the save that nothing denied")
            try expect(try context.ties(of: "Lock"), ["first": ""], "the lock that was let go")
        }
    }

    /// The rule `No Action` and relationships without an inverse leave references to deleted rows. Such a reference
    /// does not return a living object, and everything else is unchanged.
    @Sendable private static func opensWithDanglingReferences(_ stack: StoreConformance) throws {
        func living(_ object: NSManagedObject, _ relationship: String) -> [String] {
            let one = (object.value(forKey: relationship) as? NSManagedObject).map { [$0] }
            let members =
                one ?? object.mutableSetValue(forKey: relationship).allObjects.compactMap { $0 as? NSManagedObject }
            return members.compactMap { member in
                (try? member.managedObjectContext?.existingObject(with: member.objectID))?.text("name")
            }.sorted()
        }
        try stack.inContext { context in
            let (gone, kept) = (context.make("Folder", named: "gone"), context.make("Folder", named: "kept"))
            context.make("Shortcut", named: "1").setValue(gone, forKey: "target")
            context.make("Shortcut", named: "2").setValue(kept, forKey: "target")
            for name in ["Ada", "Bo", "Cy"] { _ = context.make("Person", named: name) }
            let people = try context.named("Person")
            people["Ada"]?.setValue(people["Bo"], forKey: "mentor")
            people["Ada"]?.setValue(NSSet(array: Array(people.values)), forKey: "likes")
            try context.save()
        }
        try stack.inContext { context in
            context.delete(try need(try context.named("Folder")["gone"], "the folder"))
            context.delete(try need(try context.named("Person")["Bo"], "Bo"))
            try context.save()
        }
        func check(_ context: NSManagedObjectContext) throws {
            let shortcuts = try context.named("Shortcut")
            try expect(shortcuts.keys.sorted(), ["1", "2"], "the shortcuts after the deletion of a target")
            for (name, wanted) in [("1", []), ("2", ["kept"])] {
                let shortcut = try need(shortcuts[name], "the shortcut")
                let target = shortcut.value(forKey: "target") == nil ? [] : living(shortcut, "target")
                try expect(target, wanted, "the living target of shortcut \(name)")
            }
            let ada = try need(try context.named("Person")["Ada"], "Ada")
            try expect(ada.value(forKey: "mentor") == nil || living(ada, "mentor").isEmpty, "the mentor is gone")
            try expect(living(ada, "likes"), ["Ada", "Cy"], "whom Ada likes of those that live")
            try expect(try context.named("Person").keys.sorted(), ["Ada", "Cy"], "the people")
            try expect(try context.named("Folder").keys.sorted(), ["kept"], "the folders")
        }
        try stack.inEachState(check)
        // Saving another row removes nothing, and saving such a row succeeds.
        try stack.inContext { context in
            _ = context.make("Label", named: "green")
            try need(try context.named("Shortcut")["2"], "the shortcut").setValue("2", forKey: "name")
            try context.save()
            try need(try context.named("Shortcut")["1"], "the shortcut").setValue(nil, forKey: "target")
            try context.save()
        }
        try stack.inEachState(check)
    }
}
