//
//  SpendingModel.swift
//  Spending
//

import Combine
import CoreData
import os

/// The state of the list of expenses.
public final class SpendingModel: ObservableObject {

    @Published public var searchText = ""
    @Published public private(set) var expenses: [Expense] = []
    @Published public private(set) var total: Decimal = 0
    @Published public private(set) var savedAt: Date?

    private let controller: PersistenceController
    private let publisher: FetchedResultsPublisher<Expense>
    private let logger = Logger(subsystem: "org.example.household", category: "spending")
    private var cancellables = Set<AnyCancellable>()

    public init(controller: PersistenceController) {
        self.controller = controller
        let request: NSFetchRequest<Expense> = Expense.fetchRequest()
        request.sortDescriptors = [
            NSSortDescriptor(keyPath: \Expense.date, ascending: false),
            NSSortDescriptor(keyPath: \Expense.title, ascending: true),
        ]
        request.relationshipKeyPathsForPrefetching = ["category"]
        publisher = FetchedResultsPublisher(request: request, context: controller.viewContext)

        let all = publisher.objects
            .handleEvents(receiveOutput: { [logger] in logger.debug("\($0.count, format: .decimal) expenses") })
            .catch { [logger] error -> Just<[Expense]> in
                logger.error("\(error.localizedDescription, privacy: .public)")
                return Just([])
            }
            .share()
            .prepend((try? controller.viewContext.fetch(request)) ?? [])

        let search = $searchText
            .map { $0.trimmingCharacters(in: .whitespaces) }
            .removeDuplicates()

        Publishers.CombineLatest(all, search)
            .map { expenses, text in
                text.isEmpty ? expenses : expenses.filter { $0.title.localizedCaseInsensitiveContains(text) }
            }
            .assign(to: &$expenses)

        $expenses
            .map { $0.reduce(Decimal(0)) { $0 + $1.amount.decimalValue } }
            .removeDuplicates()
            .sink { [weak self] in self?.total = $0 }
            .store(in: &cancellables)

        NotificationCenter.default
            .publisher(for: .NSManagedObjectContextDidSave, object: controller.viewContext)
            .compactMap { ($0.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>)?.isEmpty }
            .filter { !$0 }
            .map { _ in Date() }
            .sink { [weak self] in self?.savedAt = $0 }
            .store(in: &cancellables)
    }

    @discardableResult
    public func add(_ title: String, amount: Decimal, category name: String? = nil) -> Expense {
        let expense = Expense(context: controller.viewContext)
        expense.title = title
        expense.amount = amount as NSDecimalNumber
        expense.category = name.map(category)
        logger.info("Added \(title, privacy: .private(mask: .hash))")
        controller.save()
        return expense
    }

    public func delete(_ expense: Expense) {
        controller.viewContext.delete(expense)
        controller.save()
    }

    /// Imports in the background, as a future.
    public func importExpenses(_ titles: [String]) -> Future<Int, Error> {
        let container = controller.container
        return Future { promise in
            container.performBackgroundTask { context in
                do {
                    for title in titles {
                        let expense = Expense(context: context)
                        expense.title = title
                        expense.amount = 1
                    }
                    try context.save()
                    promise(.success(titles.count))
                } catch {
                    promise(.failure(error))
                }
            }
        }
    }

    private func category(named name: String) -> Category {
        let request: NSFetchRequest<Category> = Category.fetchRequest()
        request.predicate = NSPredicate(format: "%K ==[c] %@", "name", name)
        request.fetchLimit = 1
        if let found = try? controller.viewContext.fetch(request).first { return found }
        let category = Category(context: controller.viewContext)
        category.name = name
        return category
    }
}
