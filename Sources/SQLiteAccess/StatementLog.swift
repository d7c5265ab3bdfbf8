import Foundation

import Glibc

/// Where the statements of a process are written down.
enum StatementLog {
    /// The file at `path`, to which lines are added, and which only its owner may read, as it holds values; standard error
    /// without a path, and where the file cannot be written, which standard error then says.
    static func open(_ path: String?) -> FileHandle {
        guard let path, !path.isEmpty else { return .standardError }
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor < 0 else { return FileHandle(fileDescriptor: descriptor, closeOnDealloc: false) }
        let reason = String(cString: strerror(errno))
        let note = "CoreData: sql: cannot write \(path): \(reason); the statements follow here\n"
        try? FileHandle.standardError.write(contentsOf: Data(note.utf8))
        return .standardError
    }
}
