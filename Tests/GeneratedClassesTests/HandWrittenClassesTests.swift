import CoreData
import Testing

/// `@Managed` properties of every kind.
@MainActor @Suite struct HandWrittenClassesTests {
    @Test func propertiesBeginUnset() throws {
        let review = Review(context: try Stack("Library").context)
        #expect(review.data == nil && review.decimal == nil && review.facts == nil && review.link == nil)
        #expect(review.double == 0 && review.float == 0 && review.number == 0 && review.small == 0 && !review.flag)
        #expect(review.stars == nil && review.tags == nil && review.text == nil && review.token == nil)
        #expect(review.when == nil && review.book == nil && review.answers?.count == 0)
    }

    /// An object without changes reads a property on a fast path after the first read. The result is always the same.
    @Test func propertiesReadTheSameInEveryState() throws {
        let stack = try Stack("Library")
        let context = stack.context
        context.undoManager = UndoManager()
        let review = Review(context: context)
        expectTypedReadsToAgree(review, "new")
        try context.save()
        expectTypedReadsToAgree(review, "saved unset")
        for round in 1...3 {
            setEverything(of: review, round)
            expectTypedReadsToAgree(review, "set \(round)")
            #expect(review.number == Int64(round) << 40 && review.text == "Text \(round) of a length beyond fifteen")
            if round == 2 {
                context.undo()
                expectTypedReadsToAgree(review, "undone")
                context.redo()
                expectTypedReadsToAgree(review, "redone")
            }
            try context.save()
            expectTypedReadsToAgree(review, "saved \(round)")
            context.refresh(review, mergeChanges: false)
            expectTypedReadsToAgree(review, "read again \(round)")
            #expect(review.small == Int16(-round) && review.stars == Int32(round) && review.double == Double(round) / 2)
        }
        review.text = nil
        review.stars = nil
        review.when = nil
        expectTypedReadsToAgree(review, "set to nothing")
        try context.save()
        context.refreshAllObjects()
        expectTypedReadsToAgree(review, "nothing, read again")
        #expect(review.text == nil && review.stars == nil && review.when == nil && review.small == -3)
        review.text = "changed"
        context.rollback()
        expectTypedReadsToAgree(review, "rolled back")
        context.delete(review)
        expectTypedReadsToAgree(review, "deleted")
    }

    private func setEverything(of review: Review, _ round: Int) {
        review.double = Double(round) / 2
        review.float = Float(round) / 4
        review.flag = round % 2 == 1
        review.number = Int64(round) << 40
        review.small = Int16(-round)
        review.stars = Int32(round)
        review.text = "Text \(round) of a length beyond fifteen"
        review.when = Date(timeIntervalSinceReferenceDate: Double(round))
        review.link = URL(string: "https://example.org/\(round)")
    }

    private func expectTypedReadsToAgree(_ review: Review, _ state: Comment) {
        func number(_ key: String) -> NSNumber? { review.value(forKey: key) as? NSNumber }
        for _ in 1...2 {
            #expect(review.double == number("double")?.doubleValue ?? 0, state)
            #expect(review.float == number("float")?.floatValue ?? 0, state)
            #expect(review.flag == number("flag")?.boolValue ?? false, state)
            #expect(review.number == number("number")?.int64Value ?? 0, state)
            #expect(review.small == number("small")?.int16Value ?? 0, state)
            #expect(review.stars == number("stars")?.int32Value, state)
            #expect(review.text == review.value(forKey: "text") as? String, state)
            #expect(review.when == review.value(forKey: "when") as? Date, state)
            #expect(review.link == review.value(forKey: "link") as? URL, state)
        }
    }

    @Test func propertiesAreKept() throws {
        let stack = try Stack("Library")
        let review = Review(context: stack.context)
        review.data = Data([1, 2])
        review.decimal = NSDecimalNumber(string: "1.25")
        review.double = 0.5
        review.facts = ["a": 1]
        review.flag = true
        review.float = 0.25
        review.link = URL(string: "https://example.org/x")
        review.number = 1 << 40
        review.small = -3
        review.stars = 5
        review.tags = ["long", "good"]
        review.text = "Fine"
        review.token = UUID(uuidString: "00000000-0000-0000-0000-00000000000B")
        review.when = Date(timeIntervalSinceReferenceDate: 7)
        let answers = (0..<2).map { number in
            let answer = Review(context: stack.context)
            answer.text = "Answer \(number)"
            return answer
        }
        review.answers = NSOrderedSet(array: answers)
        review.book = Book(context: stack.context)
        #expect(answers[0].question === review && review.book?.reviews == NSSet(array: [review]))
        try stack.reopened { context in
            let request = NSFetchRequest<Review>(entityName: "Review")
            request.predicate = NSPredicate(format: "text == %@", "Fine")
            let review = try #require(try context.fetch(request).first)
            #expect(review.data == Data([1, 2]) && review.decimal == NSDecimalNumber(string: "1.25"))
            #expect(review.double == 0.5 && review.flag && review.float == 0.25 && review.number == 1 << 40)
            #expect(review.facts == ["a": 1] && review.tags == ["long", "good"])
            #expect(review.link?.path == "/x" && review.small == -3 && review.stars == 5)
            #expect(review.token?.uuidString.hasSuffix("B") == true)
            #expect(review.when == Date(timeIntervalSinceReferenceDate: 7))
            #expect(review.answers?.compactMap { ($0 as? Review)?.text } == ["Answer 0", "Answer 1"])
            #expect(review.book?.title == "Untitled")
            review.stars = nil
            review.answers = nil
            #expect(review.value(forKey: "stars") == nil && review.answers?.count == 0)
        }
    }
}
