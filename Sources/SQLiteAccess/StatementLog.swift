import Foundation

import Glibc

/// The destination of the logged statements of a process.
enum StatementLog {
    /// The file at `path`, to which lines are appended; only its owner can read it, since it contains values. Standard
    /// error if there is no path or the file cannot be written, which is then reported there.
    static func open(_ path: String?) -> FileHandle {
        guard let path, !path.isEmpty else { return .standardError }
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor < 0 else { return FileHandle(fileDescriptor: descriptor, closeOnDealloc: false) }
        let reason = String(cString: strerror(errno))
        let note = "CoreData: sql: cannot write \(path): \(reason). Writing the statements to standard error\n"
        try? FileHandle.standardError.write(contentsOf: Data(note.utf8))
        return .standardError
    }
}
