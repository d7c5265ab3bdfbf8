import CoreData
import TerminalKit
import Translation

/// The entities of a store with their record counts, for a picker. Empty entities come last.
final class EntityPickerSource: PickerSource {
    private let session: StoreSession
    private let entities: [NSEntityDescription]
    private var matching: [NSEntityDescription] = []
    /// The number that shows an entity after `g`, by the entity's name.
    private let numbers: [String: Int]
    private static let countingTime = Duration.milliseconds(150)

    init(session: StoreSession) {
        self.session = session
        let all = session.entities
        numbers = Dictionary(all.enumerated().map { ($1.name ?? "", $0 + 1) }) { first, _ in first }
        // Entities that cannot be counted in this time show their last known count.
        _ = session.counts.count(all, in: session.context, until: .now + Self.countingTime)
        let counts = session.counts
        entities = all.filter { counts[$0] != 0 } + all.filter { counts[$0] == 0 }
        filter("")
    }

    var count: Int { matching.count }

    func entity(at index: Int) -> NSEntityDescription { matching[index] }

    func place(of entity: NSEntityDescription) -> Int { matching.firstIndex { $0 === entity } ?? 0 }

    func text(at index: Int) -> String {
        let name = matching[index].name ?? ""
        guard let number = numbers[name], number <= 9 else { return "   " + name }
        return "g\(number) " + name
    }

    func detail(at index: Int) -> String {
        guard let count = session.counts[matching[index]] else { return "?" }
        return count == 0 ? tr("empty") : GroupedNumber.text(count)
    }

    func filter(_ text: String) {
        let text = text.lowercased()
        let found = text.isEmpty ? entities : entities.filter { ($0.name ?? "").lowercased().contains(text) }
        let (first, rest) = (found.filter { begins($0, text) }, found.filter { !begins($0, text) })
        matching = first + rest
    }

    private func begins(_ entity: NSEntityDescription, _ text: String) -> Bool {
        !text.isEmpty && (entity.name ?? "").lowercased().hasPrefix(text)
    }
}
