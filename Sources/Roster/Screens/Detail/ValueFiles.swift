import CoreData
import Foundation
import RosterCommands
import TerminalKit
import Translation

/// A binary value or text as a file.
private struct ValueFile {
    let title: String
    let data: Data
    /// A name for the file, with the ending of its contents.
    let name: String

    init(_ value: Data, of attribute: NSAttributeDescription) {
        self.init(value, attribute, PictureHeader(value)?.kind.lowercased() ?? Self.ending(of: value))
    }

    init(_ value: String, of attribute: NSAttributeDescription) { self.init(Data(value.utf8), attribute, "txt") }

    private init(_ data: Data, _ attribute: NSAttributeDescription, _ ending: String) {
        self.data = data
        title = PropertyTitle.title(attribute.name)
        name = "\(attribute.name.filter { $0.isLetter || $0.isNumber }).\(ending)"
    }

    private static func ending(of data: Data) -> String {
        let known: [(start: String, ending: String)] = [("%PDF", "pdf"), ("PK\u{3}\u{4}", "zip"), ("bplist", "plist")]
        return known.first { data.starts(with: $0.start.utf8) }?.ending ?? "bin"
    }
}

extension DetailScreen {
    /// The value of the attribute at the cursor; `nil` after a message if there is none that a file can have.
    private func valueFile() -> ValueFile? {
        guard isAlive, let line = current else { return nil }
        if line.depth == 0, let attribute = line.property as? NSAttributeDescription {
            switch object.value(forKey: attribute.name) {
            case let data as Data: return ValueFile(data, of: attribute)
            case let text as String: return ValueFile(text, of: attribute)
            default: break
            }
        }
        browser.say(sentence("\(PropertyTitle.title(line.property.name)) has no bytes and no text to write"))
        return nil
    }

    /// Asks for a new file and writes the value at the cursor to it.
    func saveValue() {
        guard let value = valueFile() else { return }
        let prompt = Prompt(
            label: sentence("write \(value.title) to: "), text: value.name,
            hint: CountedNoun.text(value.data.count, "byte"))
        prompt.onAccept = { [unowned self] path in
            let file = (path.trimmingCharacters(in: .whitespaces) as NSString).expandingTildeInPath
            do {
                guard !FileManager.default.fileExists(atPath: file) else {
                    throw CommandError.failure("\(path) exists; type another name")
                }
                let output = try FileOutput(OutputPlace(file))
                try output.write(bytes: value.data)
                try output.finish()
                browser.say(sentence("wrote \(value.title) to \(path)"))
                return nil
            } catch {
                return Prompt.Problem(CommandError.line(for: error))
            }
        }
        browser.layers.push(prompt)
    }

    /// Opens the value at the cursor with the program that the desktop has for it.
    func openValue() {
        guard let value = valueFile() else { return }
        do {
            let file = try browser.opened.file(named: value.name, value.data)
            try browser.openFile(file) { [weak browser] status in
                guard status != 0 else { return }
                let reason =
                    status == 127 ? tr("xdg-open is not installed") : sentence("xdg-open ended with status \(status)")
                browser?.say(reason, role: .warning)
            }
            browser.say(sentence("opening \(value.title)"))
        } catch {
            browser.complain(error)
        }
    }
}

/// Copies of values that other programs have opened, until this program ends.
final class OpenedValues {
    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("roster-\(UUID().uuidString)")

    /// Writes a copy that only this user can read.
    func file(named name: String, _ data: Data) throws -> URL {
        let place = folder.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(
            at: place, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let file = place.appendingPathComponent(name)
        try data.write(to: file)
        return file
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Starts the desktop's program for a file.
    ///
    /// - Parameter ended: receives the status of `xdg-open`, on the main thread; 127 if it is not installed.
    nonisolated static func start(_ file: URL, then ended: @escaping @MainActor @Sendable (Int32) -> Void) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["xdg-open", file.path]
        (process.standardInput, process.standardOutput) = (FileHandle.nullDevice, FileHandle.nullDevice)
        process.standardError = FileHandle.nullDevice
        process.terminationHandler = { process in
            let status = process.terminationStatus
            DispatchQueue.main.async { ended(status) }
        }
        try process.run()
    }
}
