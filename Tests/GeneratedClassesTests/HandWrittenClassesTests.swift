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
