import CoreData
import Foundation

// A refused save does not change the store, and the context keeps its changes.
extension StoreConformance {
    static let refusalScenarios = [
        Scenario("refuses values that the model forbids", refusesForbiddenValues),
        Scenario("writes nothing of a save that breaks a constraint", needs: .constraints, refusesBrokenConstraints),
        Scenario("refuses references to deleted objects", refusesDeletedReferences),
        Scenario("is read where it must not be written", needs: .keepsRows, isReadOnly),
    ]

    private static func form(in context: NSManagedObjectContext, parts count: Int = 1) -> NSManagedObject {
        let form = context.make("Form", named: "valid", "title")
        for number in 0..<count { context.make("Part", named: "\(number)").setValue(form, forKey: "form") }
        return form
    }

    /// The values that violate a condition, with the error of each.
    private static func broken() -> [(key: String, value: Any?, code: Int)] {
        [
            ("title", nil, NSValidationMissingMandatoryPropertyError), ("amount", 0, NSValidationNumberTooSmallError),
            ("amount", 101, NSValidationNumberTooLargeError),
            ("due", Date(timeIntervalSinceReferenceDate: -1), NSValidationDateTooSoonError),
            ("due", Date(timeIntervalSinceReferenceDate: 1.1e9), NSValidationDateTooLateError),
            ("code", "A", NSValidationStringTooShortError), ("code", "ABCDE", NSValidationStringTooLongError),
            ("code", "ab", NSValidationStringPatternMatchingError),
        ]
    }

    @Sendable private static func refusesForbiddenValues(_ stack: StoreConformance) throws {
        try stack.inContext { context in
            let kept = form(in: context)
            kept.setValuesForKeys(["amount": 5, "code": "AB", "due": Date(timeIntervalSinceReferenceDate: 1)])
            try context.save()
        }
        func unchanged(_ what: String) throws {
            try stack.inContext { context in
                try expect(try context.counts("Form", "Part", "Tag"), [1, 1, 0], "the rows after \(what)")
                let form = try need(try context.all("Form").first, "the form")
                try expect(form.value(forKey: "amount") as? Int, 5, "the amount after \(what)")
                try expect(form.text("code"), "AB", "the code after \(what)")
            }
        }
        for (key, value, code) in broken() {
            try stack.inContext { context in
                // An existing row, a new one and one of another entity: none of them is written.
                let (saved, fresh) = (try need(try context.all("Form").first, "the form"), form(in: context))
                _ = context.make("Tag", named: "new")
                for (wrong, right) in [(saved, fresh), (fresh, saved)] {
                    right.setValue(7, forKey: "amount")
                    let before = wrong.value(forKey: key)
                    wrong.setValue(value, forKey: key)
                    try expectError(code, "a save with \(key) = \(value ?? "nil")") { try context.save() }
                    try expect(context.hasChanges, "the context keeps its changes")
                    wrong.setValue(before, forKey: key)
                }
            }
            try unchanged("a save that was refused with \(code)")
        }
        let counts = [
            (0, NSValidationRelationshipLacksMinimumCountError), (4, NSValidationRelationshipExceedsMaximumCountError),
        ]
        for (count, code) in counts {
            try stack.inContext { context in
                _ = form(in: context, parts: count)
                try expectError(code, "a save of a form with \(count) parts") { try context.save() }
            }
            try unchanged("a save that was refused with \(code)")
        }
        try stack.inContext { context in
            let bad = form(in: context)
            bad.setValuesForKeys(["amount": 0, "code": "A"])
            _ = context.make("Part", named: "of no form")
            do {
                try context.save()
                try expect(false, "a save with three mistakes is refused")
            } catch let error as NSError where error.domain == NSCocoaErrorDomain {
                try expect(error.code, NSValidationMultipleErrorsError, "the error of several mistakes")
                let codes = (error.userInfo[NSDetailedErrorsKey] as? [NSError])?.map(\.code).sorted()
                try expect(codes, [1570, 1620, 1670], "the mistakes in it")
            }
            try unchanged("a save with three mistakes")
            bad.setValuesForKeys(["amount": 1, "code": "ABCD"])
            try context.all("Part", where: NSPredicate(format: "form == nil")).forEach(context.delete)
            try context.save()
        }
        try stack.inEachState {
            try expect(try $0.counts("Form", "Part"), [2, 2], "the rows after the mistakes were mended")
        }
    }

    @Sendable private static func refusesBrokenConstraints(_ stack: StoreConformance) throws {
        try stack.fill()
        try stack.inContext { context in
            let ada = try need(try context.all("Author", by: "born").first, "the author")
            ada.setValue("Eva", forKey: "name")
            context.delete(try need(try context.all("Atlas").first, "the atlas"))
            _ = context.make("Sample", named: "new", "text")
            let twin = context.make("Tag", named: "old")
            try expectError(133021, "a save of a second tag of one name among other changes") { try context.save() }
            try stack.inContext(checkFilled)
            try stack.inContext { try expect(try $0.counts("Sample", "Tag"), [0, 2], "the rows after it") }
            twin.setValue("other", forKey: "name")
            try context.save()
        }
        try stack.inEachState { context in
            try expect(try context.counts("Sample", "Tag", "Atlas"), [1, 3, 0], "the rows after the mended save")
            try expect(try context.all("Author", by: "born").first?.text("name"), "Eva", "the author after it")
        }
        // A saved row takes the name of another one, which fails; then both swap their names, which is valid at the end
        // of the save.
        try stack.inContext { context in
            let tags = try context.named("Tag")
            let (old, new) = (try need(tags["old"], "the tag"), try need(tags["new"], "the tag"))
            old.setValue("new", forKey: "name")
            try expectError(133021, "a save that gives two tags one name") { try context.save() }
            new.setValue("old", forKey: "name")
            try context.save()
        }
        try stack.inEachState { context in
            try expect(
                try context.named("Tag").mapValues { $0.texts("books", "title") },
                ["new": ["C"], "old": ["C"], "other": []], "the books of the tags after they swapped names")
        }
    }

    @Sendable private static func refusesDeletedReferences(_ stack: StoreConformance) throws {
        try stack.fillPeople()
        try stack.inContext { context in
            let people = try context.named("Person")
            let (ada, bo) = (try need(people["Ada"], "Ada"), try need(people["Bo"], "Bo"))
            context.delete(bo)
            context.processPendingChanges()
            ada.setValue(bo, forKey: "mentor")
            ada.setValue("Eva", forKey: "name")
            try expectError(NSManagedObjectValidationError, "a save with a reference to what it deletes") {
                try context.save()
            }
            try stack.inContext { other in
                try expect(try other.named("Person").keys.sorted(), ["Ada", "Bo", "Cy", "Di"], "the people after it")
            }
            ada.setValue(people["Cy"], forKey: "mentor")
            try context.save()
        }
        try stack.inEachState { context in
            try expect(
                try context.ties(of: "Person"),
                [
                    "Eva": "children: Cy, friends: Cy, mentor: Cy, partner: Di", "Cy": "friends: Cy Eva, parent: Eva",
                    "Di": "partner: Eva",
                ], "the people after the mended save")
        }
    }

    @Sendable private static func isReadOnly(_ stack: StoreConformance) throws {
        try stack.fill()
        let reading = stack.options.merging([NSReadOnlyPersistentStoreOption: true]) { $1 }
        for _ in 0..<2 {
            try stack.reopen(options: reading)
            try expect(stack.store.isReadOnly, "the store is opened for reading")
            try stack.inContext(checkFilled)
            try stack.inContext { context in
                try need(try context.all("Address").first, "the address").setValue("Rome", forKey: "city")
                try expectError(CocoaError.fileWriteNoPermission.rawValue, "a save to a store that is only read") {
                    try context.save()
                }
                context.rollback()
                _ = context.make("Address", named: "Oslo", "city")
                try expectError(CocoaError.fileWriteNoPermission.rawValue, "a save of a new row to it") {
                    try context.save()
                }
            }
            try stack.inContext(checkFilled)
        }
        try stack.reopen()
        try stack.inContext(checkFilled)
        try stack.inContext { context in
            try expect(try context.counts("Address"), [1], "the addresses")
            try need(try context.all("Address").first, "the address").setValue("Rome", forKey: "city")
            try context.save()
        }
        try stack.inEachState { try expect(try $0.all("Address").map { $0.text("city") }, ["Rome"], "the cities") }
    }
}
