import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// The filter of a list: asks for it, adds conditions to it, and removes them.
final class ListFilter {
    private unowned let list: ListScreen
    /// Reads values to complete a predicate.
    private(set) var completion: Job<Prompt.Completion?>?
    /// The texts of the conditions in the status line, and the filter and entity that they belong to.
    private var shown: (filter: String, entity: NSEntityDescription, texts: [String])?
    /// Positions of the conditions in the status line.
    private var places: [Range<Int>] = []
    private var line = 0

    init(of list: ListScreen) { self.list = list }

    /// The conditions, also of a list that is still being read.
    private var conditions: FilterConditions { FilterConditions(list.chosenSettings.filter, for: list.entity) }

    // MARK: The whole filter

    /// Prompts for the predicate, with the current one to edit.
    func ask() {
        let prompt = Prompt(
            label: "filter: ", text: list.chosenSettings.filter, history: list.browser.filterHistory,
            hint: sentence("such as \(FilterText.example(for: list.entity)); Tab completes, empty shows all"))
        prompt.complete = { [unowned self, unowned prompt] text, cursor in complete(text, cursor: cursor, in: prompt) }
        prompt.onAccept = { [unowned self] in set($0) }
        list.browser.layers.push(prompt)
    }

    /// Filters by a typed predicate; an empty one shows all records. Returns the problem if it is invalid.
    func set(_ text: String) -> Prompt.Problem? {
        if let problem = FilterText.problem(text, for: list.entity) { return problem }
        let trimmed = text.trimmingCharacters(in: .whitespaces)
        do {
            try list.tryToChange { $0.filter = trimmed }
        } catch {
            // It parses, but the store cannot run it: a constant of the wrong type or an invalid regular expression.
            return FilterText.problem(error, in: text)
        }
        list.browser.rememberFilter(trimmed)
        return nil
    }

    /// Completes a predicate in a prompt: values after a comparison, otherwise keys and words. Values of many records
    /// are read in the background and offered if the text is then unchanged.
    ///
    /// - Parameter start: position of the predicate in the prompt.
    func complete(_ text: String, cursor: Int, in prompt: Prompt?, from start: Int = 0) -> Prompt.Completion? {
        let (entity, session) = (list.entity, list.session)
        let predicate = String(text.dropFirst(start))
        func placed(_ found: Prompt.Completion) -> Prompt.Completion {
            let range = found.range.lowerBound + start..<found.range.upperBound + start
            return Prompt.Completion(range: range, candidates: found.candidates)
        }
        guard let values = ValueCompletion(predicate, cursor: cursor - start, entity: entity) else {
            return FilterText.completion(predicate, cursor: cursor - start, entity: entity).map(placed)
        }
        if !session.isLong(entity) {
            return (try? session.context.fetch(values.request(of: entity))).flatMap(values.completion).map(placed)
        }
        let reader = session.container.newBackgroundContext()
        completion = Job {
            try await reader.perform { values.completion(try reader.fetch(values.request(of: entity))) }
        } then: { [weak prompt, unowned self] result in
            guard let prompt, let found = try? result.get() else { return }
            prompt.offer(placed(found), for: text)
            list.browser.needsDisplay = true
        }
        return nil
    }

    // MARK: Conditions

    /// Adds predicates to the filter.
    func add(_ predicates: [NSPredicate]) {
        let text = conditions.adding(predicates).text
        guard text != conditions.text else { return list.browser.say("the list is filtered by that already") }
        change(to: text)
    }

    /// Adds a condition from the focused cell, or from the folded section under the cursor.
    func add(_ relation: CellRelation) {
        do {
            add([try condition(relation)])
        } catch {
            list.browser.say(CommandError.line(for: error), role: .warning)
        }
    }

    private func condition(_ relation: CellRelation) throws -> NSPredicate {
        let condition = CellCondition(relation: relation)
        if case .header(let section) = list.view.cursor {
            return try condition.predicate(of: list.records.levels(ofSection: section))
        }
        guard let object = list.view.cursor?.path.flatMap({ list.records.object(at: $0) }) else {
            throw CommandError.failure("no record under the cursor")
        }
        return try condition.predicate(of: object, list.entity.propertiesByName[list.focusedKey])
    }

    /// Removes the only condition, or asks which one.
    func askToTakeOut() {
        let texts = conditions.texts
        guard texts.count > 1 else {
            return texts.isEmpty ? list.browser.say("the list has no filter: \\ sets one") : takeOut(0)
        }
        let items = texts.map { (text: $0, detail: "") }
        list.browser.layers.push(
            Picker(title: "Take out of the filter", items: items, selected: texts.count - 1) { [unowned self] in
                takeOut($0)
            })
    }

    private func takeOut(_ index: Int) {
        let texts = conditions.texts
        guard texts.indices.contains(index) else { return }
        change(to: conditions.removing(at: index).text)
        list.browser.say(sentence("taken out of the filter: \(texts[index])"))
    }

    private func change(to text: String) {
        do {
            try list.tryToChange { $0.filter = text }
            list.browser.rememberFilter(text)
        } catch {
            list.browser.complain(error)
        }
    }

    // MARK: The status line

    /// The pieces of the status line: a label, and each condition.
    var statusPieces: [String] {
        let filter = list.records.settings.filter
        guard !filter.isEmpty else { return [] }
        if shown?.filter != filter || shown?.entity !== list.entity {
            shown = (filter, list.entity, FilterConditions(filter, for: list.entity).texts)
        }
        let texts = shown?.texts ?? []
        let label = tr("filter: %s", "")
        return ["  " + label] + texts.enumerated().map { $0.offset == 0 ? $0.element : " AND " + $0.element }
    }

    /// Remembers where the conditions are drawn.
    func noteDrawn(_ places: [Range<Int>], line: Int) { (self.places, self.line) = (places, line) }

    /// Removes the condition at a position of the screen, once for a double click. Returns false if there is none.
    func press(_ mouse: MouseEvent) -> Bool {
        let point = mouse.position
        guard point.y == line, let index = places.firstIndex(where: { $0.contains(point.x) }) else { return false }
        if mouse.action == .press { takeOut(index) }
        return true
    }
}
