import Foundation
import SourcePort

/// `port`: rewrites Swift source for Apple's Core Data to use this package.
public struct PortCommand {
    /// The folder of a program's source.
    public var path: String
    /// True to change the files; false to print the changes.
    public var isInPlace: Bool
    /// True to print the report as JSON instead of the diff or the paths.
    public var printsReport: Bool

    /// Creates the command; see the properties.
    public init(path: String, isInPlace: Bool = false, printsReport: Bool = false) {
        self.path = path
        self.isInPlace = isInPlace
        self.printsReport = printsReport
    }

    /// Prints the changes of all files as one diff, or makes them and prints the paths of the files.
    ///
    /// - Parameter remark: called after the diff: one line with places for each kind of change that a person has to
    ///   make, and one with the totals.
    /// - Returns: number of places that a person has to change.
    /// - Throws: ``CommandError`` if a file or folder cannot be read or written; all others are processed first.
    public func run(in surroundings: CommandSurroundings, remark: (String) -> Void) throws -> Int {
        let folder = try SourceFolder(path)
        var problems: [CommandError] = []
        var report = PortReport()
        // Printed after the diff, where they are noticed.
        defer {
            if !printsReport { for line in Self.lines(of: report) { remark(line) } }
            for problem in problems.dropFirst() { remark(CommandError.line(for: problem)) }
        }
        let files = folder.swiftFiles { problems.append($0) }
        // Unreadable files are reported when they are ported.
        let facts = PortFacts(
            of: files.lazy.prefix { _ in !surroundings.interruption.isRaised }.compactMap { try? folder.read($0) })
        for (number, file) in files.enumerated() {
            if surroundings.interruption.isRaised {
                surroundings.progress.end()
                throw CommandError.failure("stopped after \(number) of \(files.count) files")
            }
            // A diff on the screen shows the progress itself.
            if isInPlace {
                surroundings.progress.report(
                    fraction: Double(number) / Double(files.count), "\(number) of \(files.count) files")
            }
            do {
                report.add(try port(file, in: folder, facts, surroundings), path: folder.full(file))
            } catch let error as CommandError {
                problems.append(error)
            }
        }
        surroundings.progress.end()
        if printsReport {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            try surroundings.output.write(String(decoding: try encoder.encode(report), as: UTF8.self) + "\n")
        }
        try surroundings.output.flush()
        if let first = problems.first { throw first }
        return report.placesLeft
    }

    /// The report as lines of text; none if there is nothing to report.
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
        _ file: String, in folder: SourceFolder, _ facts: PortFacts, _ surroundings: CommandSurroundings
    ) throws -> PortedFile {
        let bytes = try folder.read(file)
        let ported = SourcePort.port(bytes, knowing: facts)
        guard !ported.edits.isEmpty else { return ported }
        if isInPlace { try folder.replace(file, bytes, by: ported.text) }
        if printsReport { return ported }
        if isInPlace {
            try surroundings.output.write("ported \(VisibleText.shown(folder.full(file)))\n")
        } else {
            let diff = ported.diff(path: VisibleText.oneLine(file))
            // A screen must not obey control characters in a file. Elsewhere the diff is for `patch` and is written
            // unchanged.
            let isOnScreen = surroundings.textStyle.columns != nil
            try surroundings.output.write(isOnScreen ? Self.shown(diff) : diff)
        }
        return ported
    }

    /// Keeps lines and tabs and makes other control characters visible.
    private static func shown(_ diff: String) -> String {
        diff.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            line.split(separator: 0x09, omittingEmptySubsequences: false)
                .map { VisibleText.shown(String(decoding: $0, as: UTF8.self)) }.joined(separator: "\t")
        }.joined(separator: "\n")
    }
}
