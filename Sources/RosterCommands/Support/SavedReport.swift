import Foundation

/// The part of a command that says what was saved: where it cannot be written, the error says that the changes stand all the same.
enum SavedReport {
    /// - Parameter isSaved: whether anything was saved before `body`.
    static func telling(_ isSaved: Bool, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as CommandError where isSaved {
            throw CommandError.failure("the changes are saved, but \(error.message)")
        }
    }
}
