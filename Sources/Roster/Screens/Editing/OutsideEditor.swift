import Foundation
import Translation

// Long texts, edited in the program that the user likes for them.

extension Browser {
    /// Lets the user edit a text in `$VISUAL` or `$EDITOR`.
    ///
    /// - Returns: the text as it was left; `nil` where it was not changed, and where something went wrong, which is told.
    func editOutside(_ text: String, named name: String) -> String? {
        let environment = ProcessInfo.processInfo.environment
        let editor = [environment["VISUAL"], environment["EDITOR"]].compactMap { $0 }.first { !$0.isEmpty } ?? "vi"
        guard let lendTerminal else {
            say("no terminal for an editor", role: .warning)
            return nil
        }
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("roster-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            // What is edited is nothing for other users.
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let file = folder.appendingPathComponent("\(name.prefix(40).filter { $0.isLetter || $0.isNumber }).txt")
            // Editors end the last line; one that was not ended before is not afterwards.
            try Data((text + "\n").utf8).write(to: file)
            var status: Int32 = 0
            lendTerminal { status = OutsideEditor.run(editor, on: file.path) }
            guard status == 0 else {
                say(sentence("\(editor) ended with status \(status): the text is as it was"), role: .warning)
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
    /// Runs an editor, which may be a command with arguments, on a file, and waits for its end.
    ///
    /// - Returns: its exit status.
    static func run(_ editor: String, on file: String) -> Int32 {
        let quoted = "'" + file.replacingOccurrences(of: "'", with: "'\\''") + "'"
        let result = system("\(editor) \(quoted)")
        return result == -1 ? 127 : (result & 0x7F) == 0 ? (result >> 8) & 0xFF : 128 + (result & 0x7F)
    }
}
