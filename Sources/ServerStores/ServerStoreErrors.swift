import CoreData
import Foundation

/// Converts errors of a server to Core Data's, with the server's error underlying. Messages omit passwords.
struct ServerStoreErrors {
    let place: ServerPlace

    enum Activity: String {
        case opening = "open"
        case creating = "create"
        case reading = "read"
        case saving = "save to"
        case migrating = "migrate"
        case destroying = "destroy"
    }

    func translating<Result>(_ activity: Activity, _ body: () throws -> Result) throws -> Result {
        do { return try body() } catch let error as ServerError { throw make(error, activity) }
    }

    func make(_ error: ServerError, _ activity: Activity) -> NSError {
        let isOpening = activity == .opening || activity == .creating || activity == .destroying
        let code: Int
        switch error.kind {
        case .forbidden: code = isOpening ? 257 : 513
        case .missing: code = 260
        case .lost: code = isOpening ? 134080 : 134070
        case .uniqueViolation: code = 133021
        case .referenceViolation: code = 133000
        case .retry: code = 134070
        case .cancelled: code = 3072
        case .locked: code = 134090
        case .unwritable: code = 513
        case .uncertain: code = 134070
        case .other: code = isOpening ? 134080 : activity == .migrating ? 134110 : activity == .saving ? 134030 : 134070
        }
        var reason = "\(error.message)"
        if error.kind == .locked {
            let seconds = Double(place.lockTimeout) / 1000
            reason = "another program has locked it (waited \(Self.text(seconds)) s). Try again later"
        }
        var info: [String: Any] = [:]
        if let state = error.state { info["NSSQLState"] = state }
        if error.isOfServerAway { info[CoreDataError.storeAwayKey] = true }
        if error.kind == .uncertain {
            info["outcome"] = "unknown"
            info["token"] = error.token?.uuidString
        }
        return CoreDataError.make(
            code, "Cannot \(activity.rawValue) the store \(place.name): \(Self.sentence(reason))",
            underlying: Self.underlying(error), userInfo: info)
    }

    /// Adds a full stop if the text does not end with punctuation.
    private static func sentence(_ text: String) -> String {
        text.last.map { ".?!".contains($0) } == true ? text : text + "."
    }

    private static func text(_ seconds: Double) -> String {
        let text = String(format: "%.3f", seconds)
        return String(text.reversed().drop { $0 == "0" }.drop { $0 == "." }.reversed())
    }

    /// Returns the error for a store whose tables are no longer the opened ones.
    func replaced() -> NSError {
        CoreDataError.make(
            134100,
            "Another program migrated, replaced or removed the store \(place.name). "
                + "Open it again with its present model.",
            userInfo: ["reason": "The model used to open the store is no longer the model of its tables"])
    }

    /// Returns the server's error, for programs that handle it.
    static func underlying(_ error: ServerError) -> NSError {
        var info: [String: Any] = [NSLocalizedDescriptionKey: error.description]
        info["SQLSTATE"] = error.state
        info["constraint"] = error.constraint
        return NSError(domain: "ServerErrorDomain", code: 0, userInfo: info)
    }

    /// Returns the error for a row that violates a uniqueness constraint of the model.
    func uniqueViolation(
        _ error: ServerError, _ changes: StoreChangeSet, _ layout: ServerLayout
    ) -> NSError {
        guard let constraint = error.constraint.flatMap({ layout.constraints[$0] }) else { return make(error, .saving) }
        let updated = changes.updated.compactMap { change in change.row.map { IdentifiedRow(id: change.id, row: $0) } }
        let rows = (changes.inserted + updated).filter { $0.id.entity.isKindOf(entity: constraint.entity) }
        return CoreDataError.make(
            133021,
            "Cannot save to the store \(place.name): another \(constraint.entity.name ?? "") already has the same "
                + "\(constraint.names.joined(separator: " and ")).",
            underlying: Self.underlying(error),
            userInfo: [
                "constraint": constraint.names, "entity": constraint.entity.name ?? "", "candidates": rows.map(\.id),
            ])
    }
}
