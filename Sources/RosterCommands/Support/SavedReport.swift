import Foundation

/// The part of a command that says what was saved: where it cannot be written, the error says that all is saved all the same.
enum SavedReport {
    enum What {
        case changes, copy, store
    }

    /// - Parameters:
    ///   - isSaved: whether anything was saved before `body`.
    ///   - what: what was saved.
    static func telling(_ isSaved: Bool, of what: What = .changes, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as CommandError where isSaved {
            switch what {
            case .changes: throw CommandError.failure("the changes are saved, but \(error.message)")
            case .copy: throw CommandError.failure("the copy is made, but \(error.message)")
            case .store: throw CommandError.failure("the store is made, but \(error.message)")
            }
        }
    }
}
