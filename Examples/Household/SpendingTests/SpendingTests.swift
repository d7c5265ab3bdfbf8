//
//  SpendingTests.swift
//  SpendingTests
//

import Combine
import CoreData
import XCTest
@testable import Spending

final class SpendingTests: XCTestCase {

    private var controller: PersistenceController!
    private var model: SpendingModel!
    private var cancellables: Set<AnyCancellable> = []

    override func setUp() {
        super.setUp()
        controller = PersistenceController(inMemory: true)
        model = SpendingModel(controller: controller)
    }

    override func tearDown() {
        cancellables.removeAll()
        model = nil
        controller = nil
        super.tearDown()
    }

    func testExpensesFollowTheContext() {
        var counts: [Int] = []
        model.$expenses.map(\.count).removeDuplicates().sink { counts.append($0) }.store(in: &cancellables)
        model.add("Tea", amount: 3)
        let bread = model.add("Bread", amount: Decimal(string: "2.50")!, category: "Food")
        XCTAssertEqual(counts, [0, 1, 2])
        XCTAssertEqual(model.total, Decimal(string: "5.50"))
        XCTAssertNotNil(model.savedAt)
        model.delete(bread)
        XCTAssertEqual(model.expenses.map(\.title), ["Tea"])
    }

    func testSearchFilters() {
        model.add("Tea", amount: 3)
        model.add("Green tea", amount: 4)
        model.add("Bread", amount: 2)
        model.searchText = " tea "
        XCTAssertEqual(Set(model.expenses.map(\.title)), ["Tea", "Green tea"])
        XCTAssertEqual(model.total, 7)
    }

    func testObjectWillChange() {
        var changes = 0
        model.objectWillChange.sink { changes += 1 }.store(in: &cancellables)
        model.searchText = "x"
        XCTAssertGreaterThan(changes, 0)
    }

    func testImportArrives() {
        let imported = expectation(description: "imported")
        let shown = expectation(description: "shown")
        model.$expenses.first { $0.count == 2 }.sink { _ in shown.fulfill() }.store(in: &cancellables)
        model.importExpenses(["Tea", "Bread"])
            .receive(on: DispatchQueue.main)
            .sink(receiveCompletion: { completion in
                if case .failure(let error) = completion { XCTFail("\(error)") }
            }, receiveValue: { count in
                XCTAssertEqual(count, 2)
                imported.fulfill()
            })
            .store(in: &cancellables)
        wait(for: [imported, shown], timeout: 60)
    }

    func testCategoriesAreReused() throws {
        let tea = model.add("Tea", amount: 3, category: "Food")
        let bread = model.add("Bread", amount: 2, category: "food")
        XCTAssertEqual(tea.category, bread.category)
        XCTAssertEqual(tea.category?.expenses?.count, 2)
    }
}
