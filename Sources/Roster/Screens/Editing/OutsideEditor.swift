import Foundation
import Translation

extension Browser {
    /// Lets the user edit a text in `$VISUAL` or `$EDITOR`.
    ///
    /// - Returns: the edited text; `nil` if it was not changed or an error was shown.
    func editOutside(_ text: String, named name: String) -> String? {
        let environment = ProcessInfo.processInfo.environment
        let editor = [environment["VISUAL"], environment["EDITOR"]].compactMap { $0 }.first { !$0.isEmpty } ?? "vi"
        guard let lendTerminal else {
            say("cannot start an editor without a terminal", role: .warning)
            return nil
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("roster-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            // Other users must not read the text.
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let file = folder.appendingPathComponent("\(name.prefix(40).filter { $0.isLetter || $0.isNumber }).txt")
            // Editors end the last line with a newline. It is added here and removed again below.
            try Data((text + "\n").utf8).write(to: file)
            var status: Int32 = 0
            lendTerminal { status = OutsideEditor.run(editor, on: file.path) }
            guard status == 0 else {
                say(sentence("\(editor) failed with status \(status); the text was not changed"), role: .warning)
                return nil
            }
            var edited = String(decoding: try Data(contentsOf: file), as: UTF8.self)
            if edited.hasSuffix("\n") { edited.removeLast() }
            return edited == text ? nil : edited
        } catch {
            complain(error)
            return nil
        }
    }
}

enum OutsideEditor {
    /// Runs an editor command, which may have arguments, on a file and waits until it ends.
    ///
    /// - Returns: its exit status.
    static func run(_ editor: String, on file: String) -> Int32 {
        let quoted = "'" + file.replacingOccurrences(of: "'", with: "'\\''") + "'"
        let result = system("\(editor) \(quoted)")
        return result == -1 ? 127 : (result & 0x7F) == 0 ? (result >> 8) & 0xFF : 128 + (result & 0x7F)
    }
}
