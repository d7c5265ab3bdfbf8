import Foundation

/// Reports what was saved. If the report cannot be written, the error adds that everything was saved.
enum SavedReport {
    enum What {
        case changes, copy, store
    }

    /// - Parameters:
    ///   - isSaved: true if anything was saved before `body`.
    ///   - what: the thing that was saved.
    static func telling(_ isSaved: Bool, of what: What = .changes, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as CommandError where isSaved {
            switch what {
            case .changes: throw CommandError.failure("saved the changes, but \(error.message)")
            case .copy: throw CommandError.failure("made the copy, but \(error.message)")
            case .store: throw CommandError.failure("created the store, but \(error.message)")
            }
        }
    }
}
