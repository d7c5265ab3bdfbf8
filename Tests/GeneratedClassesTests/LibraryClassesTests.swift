import CoreData
import Testing

/// Generated classes with inheritance, extensions of hand-written classes, and relationships of all kinds.
@MainActor @Suite struct LibraryClassesTests {
    private func books(_ count: Int, _ context: NSManagedObjectContext) -> [Book] {
        (0..<count).map { number in
            let book = Book(context: context)
            book.title = "Book \(number)"
            return book
        }
    }

    @Test func anExtensionIsGeneratedForAClassWrittenByHand() throws {
        let stack = try Stack("Library")
        let book = Book(context: stack.context)
        #expect(book.title == "Untitled" && book.price == 9.5 && book.pages == nil && !book.default && book.in == 0)
        book.pages = 301
        book.default = true
        book.in = 12.5
        book.token = UUID(uuidString: "00000000-0000-0000-0000-00000000000A")
        book.keywords = ["sea", "whale"]
        #expect(book.isLong)
        try stack.reopened { context in
            let book = try #require(try context.fetch(Book.fetchRequest()).first)
            #expect(book.isLong && book.default && book.in == 12.5 && book.token?.uuidString.hasSuffix("A") == true)
            #expect(book.keywords == ["sea", "whale"])
            #expect(book.value(forKey: "in") as? Date == Date(timeIntervalSinceReferenceDate: 12.5))
            book.keywords = nil
            #expect(book.keywords == nil)
        }
    }

    @Test func classesInheritAsEntitiesDo() throws {
        let stack = try Stack("Library")
        let author = Author(context: stack.context)
        author.name = "Herman"
        author.penName = "H. M."
        try stack.reopened { context in
            let request: NSFetchRequest<Author> = Author.fetchRequest()
            #expect(try context.fetch(request).first?.penName == "H. M.")
            let people = try context.fetch(Person.fetchRequest())
            #expect(people.map(\.name) == ["Herman"] && people.first is Author)
        }
    }

    @Test func membersAreAddedAndRemoved() throws {
        let stack = try Stack("Library")
        let author = Author(context: stack.context)
        let books = books(4, stack.context)
        author.addToBooks(books[0])
        author.addToBooks(NSSet(array: [books[1], books[2]]))
        #expect(author.books?.count == 3 && books[2].author === author && books[3].author == nil)
        author.removeFromBooks(books[0])
        author.removeFromBooks(books[3])
        author.removeFromBooks(NSSet(array: [books[1]]))
        #expect(author.books == NSSet(array: [books[2]]) && books[0].author == nil && books[1].author == nil)
        books[3].author = author
        author.books = NSSet(array: [books[0], books[3]])
        #expect(books[2].author == nil && books[0].author === author)
        try stack.reopened { context in
            let request: NSFetchRequest<Author> = Author.fetchRequest()
            let titles = try context.fetch(request).first?.books?.compactMap { ($0 as? Book)?.title }
            #expect(titles?.sorted() == ["Book 0", "Book 3"])
        }
    }

    @Test func orderedMembersHaveIndexes() throws {
        let stack = try Stack("Library")
        let shelf = Shelf(context: stack.context)
        let books = books(6, stack.context)
        func order() -> [Int] { shelf.books?.compactMap { ($0 as? Book).flatMap(books.firstIndex) } ?? [] }
        shelf.addToBooks(NSOrderedSet(array: [books[0], books[1], books[2]]))
        shelf.addToBooks(books[1])
        #expect(order() == [0, 1, 2])
        shelf.insertIntoBooks(books[3], at: 1)
        #expect(order() == [0, 3, 1, 2] && books[3].shelf === shelf)
        let indexes = NSMutableIndexSet(index: 0)
        indexes.add(3)
        shelf.insertIntoBooks([books[4], books[5]], at: indexes)
        #expect(order() == [4, 0, 3, 5, 1, 2])
        shelf.removeFromBooks(at: 1)
        #expect(order() == [4, 3, 5, 1, 2] && books[0].shelf == nil)
        shelf.replaceBooks(at: 0, with: books[0])
        #expect(order() == [0, 3, 5, 1, 2] && books[4].shelf == nil)
        shelf.removeFromBooks(at: NSIndexSet(indexesIn: NSRange(location: 3, length: 2)))
        #expect(order() == [0, 3, 5])
        shelf.replaceBooks(at: NSIndexSet(indexesIn: NSRange(location: 1, length: 2)), with: [books[1], books[2]])
        #expect(order() == [0, 1, 2])
        shelf.removeFromBooks(books[0])
        shelf.removeFromBooks(NSOrderedSet(array: [books[1]]))
        #expect(order() == [2])
        shelf.insertIntoBooks(books[5], at: 0)
        try stack.reopened { context in
            let shelf = try #require(try context.fetch(Shelf.fetchRequest()).first)
            #expect(shelf.books?.compactMap { ($0 as? Book)?.title } == ["Book 5", "Book 2"])
        }
    }

    @Test func templatesAreMethods() throws {
        let stack = try Stack("Library")
        for (number, book) in books(3, stack.context).enumerated() { book.pages = NSNumber(value: number * 200) }
        try stack.reopened { context in
            let request = Book.fetchRequestFromTemplateLongBooks(pages: 100, start: "BOOK")
            request.sortDescriptors = [NSSortDescriptor(keyPath: \Book.title, ascending: true)]
            let titles = try context.fetch(request).map(\.title)
            #expect(titles == ["Book 1", "Book 2"])
            let longer = try context.fetch(Book.fetchRequestFromTemplateLongBooks(pages: 300, start: "b"))
            #expect(longer.count == 1)
        }
    }
}
