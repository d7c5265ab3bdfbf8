import Foundation

/// The part of a command that says what was saved: where it cannot be written, the error says that the changes stand all the same.
enum SavedReport {
    /// - Parameters:
    ///   - isSaved: whether anything was saved before `body`.
    ///   - what: the beginning of a sentence on what was saved.
    static func telling(_ isSaved: Bool, of what: String = "the changes are", _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as CommandError where isSaved {
            throw CommandError.failure("\(what) saved, but \(error.message)")
        }
    }
}
