import CoreData
import Foundation
import RosterCommands

/// Why a store could not be opened for writing, and what may help.
struct OpenProblem {
    enum Kind {
        /// Reading may still work.
        case readable
        /// The store fits another model.
        case otherModel
        case hopeless
    }

    let kind: Kind
    let text: String

    init(_ error: any Error) {
        text = CommandError.line(for: error)
        kind = Self.kind(of: error as NSError)
    }

    /// What is known before the store is opened: a file or folder that must not be written.
    init?(unwritable url: URL) {
        let manager = FileManager.default
        if !manager.isWritableFile(atPath: url.path) {
            text = "\(url.path) is not writable: you have no permission to change it"
        } else if !manager.isWritableFile(atPath: url.deletingLastPathComponent().path) {
            text = "the folder of \(url.path) is not writable, and a store needs files beside it to be changed"
        } else {
            return nil
        }
        kind = .readable
    }

    private static func kind(of error: NSError) -> Kind {
        switch error.code {
        case 134_100, 134_110, 134_130, 134_140: return .otherModel
        default: return error.domain == NSCocoaErrorDomain && error.code == 260 ? .hopeless : .readable
        }
    }
}
