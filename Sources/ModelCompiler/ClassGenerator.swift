import Foundation
import ModelFiles
import Glibc

/// Generates the source of Swift classes of a model. The same model results in the same text, byte for byte.
package struct ClassGenerator {
    /// A source file.
    package struct File: Equatable, Sendable {
        package var name: String
        package var text: String
    }

    private let source: ModelSource
    private let plan: GenerationPlan

    /// - Parameter everything: True to generate classes even for entities whose classes are written by hand.
    /// - Throws: ``GenerationFailure`` with all errors, if the classes would not compile.
    package init(_ source: ModelSource, everything: Bool = false) throws(GenerationFailure) {
        self.source = source
        plan = try GenerationPlan(source, everything: everything)
    }

    /// Parts of the model that were skipped, and entities without a generated class.
    package var warnings: [Diagnostic] { source.warnings + plan.diagnostics }

    /// The names of the generated classes, in the order of their entities.
    package var classNames: [String] { plan.classes.map(\.className) }

    /// The files that Xcode generates: one for each class, one for its properties.
    package var files: [File] {
        plan.classes.flatMap { plan -> [File] in
            let classFile = "\(plan.className)+CoreDataClass.swift"
            let propertiesFile = "\(plan.className)+CoreDataProperties.swift"
            let source = ClassSource(plan, self.plan.types)
            var files: [File] = []
            if plan.extent == .wholeClass { files.append(file(classFile, source.addClass)) }
            files.append(file(propertiesFile, source.addProperties))
            return files
        }
    }

    /// All source in one file with that name, for builds that must know file names in advance.
    package func singleFile(named name: String) -> File {
        file(name) { text in
            for plan in self.plan.classes {
                let source = ClassSource(plan, self.plan.types)
                if plan.extent == .wholeClass { source.addClass(to: &text) }
                source.addProperties(to: &text)
            }
        }
    }

    private func file(_ name: String, _ content: (inout SourceText) -> Void) -> File {
        var text = SourceText(fileName: name, model: source.fileName, isEmpty: plan.classes.isEmpty)
        content(&text)
        return File(name: name, text: text.text)
    }
}

extension ClassGenerator {
    /// Writes the files into a folder, which is created if it is missing. A file that already has its text is not
    /// changed, so that it is not compiled again. All files are written to temporary names first: if one cannot be
    /// written, none is changed.
    ///
    /// - Returns: The paths of all files.
    /// - Throws: the system's error if the folder or a file cannot be written.
    package func write(into folder: URL) throws -> [URL] {
        let manager = FileManager.default
        let isNew = !manager.fileExists(atPath: folder.path)
        try manager.createDirectory(at: folder, withIntermediateDirectories: true)
        let all = files.map { (place: folder.appendingPathComponent($0.name), data: Data($0.text.utf8)) }
        do {
            let changed = all.filter { (try? Data(contentsOf: $0.place)) != $0.data }
            try FileReplacement.files(changed.map { ($0.place, $0.data) })
        } catch {
            if isNew { rmdir(folder.path) }
            throw error
        }
        return all.map(\.place)
    }

    /// Writes all source to one file, unless it already has that text.
    package func writeSingleFile(to url: URL) throws {
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Self.write(singleFile(named: url.lastPathComponent).text, to: url)
    }

    private static func write(_ text: String, to url: URL) throws {
        let data = Data(text.utf8)
        if let present = try? Data(contentsOf: url), present == data { return }
        try FileReplacement.file(at: url, data)
    }
}
