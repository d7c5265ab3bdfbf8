import Foundation
import SourcePort

/// `port`: ports Swift source that was written for Apple's Core Data to this package.
struct PortCommand {
    /// The folder of a program's source.
    var path: String
    /// True to change the files; false to print the changes.
    var isInPlace = false
    /// True to print the report as JSON instead of the diff or the paths.
    var printsReport = false

    /// Prints the changes of all files as one diff, or makes them and prints the paths of the files.
    ///
    /// - Parameter remark: Receives, after the diff, one line with places for each sentence of the notes, and one with
    ///   the totals.
    /// - Returns: Number of places that a person has to change.
    /// - Throws: ``CommandError`` if a file or folder cannot be read or written; all others are processed first.
    func run(in surroundings: Surroundings = Surroundings(), remark: (String) -> Void) throws -> Int {
        let folder = try SourceFolder(path)
        var problems: [CommandError] = []
        var report = PortReport()
        var progress = ProgressLine()
        // Printed after the diff, where users notice them.
        defer {
            if !printsReport { for line in Self.lines(of: report) { remark(line) } }
            for problem in problems.dropFirst() { remark(CommandError.line(for: problem)) }
        }
        let files = folder.swiftFiles { problems.append($0) }
        // Unreadable files are reported when they are ported.
        let facts = PortFacts(
            of: files.lazy.prefix { _ in !surroundings.isStopped() }.compactMap { try? folder.read($0) })
        for (number, file) in files.enumerated() {
            if surroundings.isStopped() {
                progress.end()
                throw CommandError.failure("stopped after \(number) of \(files.count) files")
            }
            // Without --in-place, the printed diff shows the progress.
            if isInPlace {
                progress.report(number, of: files.count)
            }
            do {
                report.add(try port(file, in: folder, facts, surroundings), path: folder.full(file))
            } catch let error as CommandError {
                problems.append(error)
            }
        }
        progress.end()
        if printsReport {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try surroundings.write(String(decoding: try encoder.encode(report), as: UTF8.self) + "\n")
        }
        if let first = problems.first { throw first }
        return report.placesLeft
    }

    /// Lines of the report; empty if there is nothing to report.
    private static func lines(of report: PortReport) -> [String] {
        func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
        var summary =
            "\(counted(report.files, "file")), \(counted(report.edits, "edit")), \(counted(report.placesLeft, "place")) left"
        if report.placesLeft > 0 {
            summary += ": " + report.left.map { "\($0.places) \($0.kind.rawValue)" }.joined(separator: ", ")
        }
        let groups = report.groups.map { VisibleText.oneLine($0.line) }
        return report.files == 0 && groups.isEmpty ? [] : groups + [summary]
    }

    private func port(
        _ file: String, in folder: SourceFolder, _ facts: PortFacts, _ surroundings: Surroundings
    ) throws -> PortedFile {
        let bytes = try folder.read(file)
        let ported = SourcePort.port(bytes, knowing: facts)
        guard !ported.edits.isEmpty else { return ported }
        if isInPlace { try folder.replace(file, bytes, by: ported.text) }
        if printsReport { return ported }
        if isInPlace {
            try surroundings.write("ported \(VisibleText.shown(folder.full(file)))\n")
        } else {
            let diff = ported.diff(path: VisibleText.oneLine(file))
            // A terminal would obey control characters in a file. Otherwise, the diff is for `patch` and is kept.
            try surroundings.write(surroundings.isOnScreen ? Self.shown(diff) : diff)
        }
        return ported
    }

    /// Makes control characters visible, except for line breaks and tabs.
    private static func shown(_ diff: String) -> String {
        diff.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            line.split(separator: 0x09, omittingEmptySubsequences: false)
                .map { VisibleText.shown(String(decoding: $0, as: UTF8.self)) }.joined(separator: "\t")
        }.joined(separator: "\n")
    }
}
