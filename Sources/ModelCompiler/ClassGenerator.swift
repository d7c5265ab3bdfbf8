import Foundation
import ModelFiles
import Glibc

/// Makes the source of Swift classes of a model. The same model gives the same text, byte for byte.
package struct ClassGenerator {
    /// A file of source.
    package struct File: Equatable, Sendable {
        package var name: String
        package var text: String
    }

    private let source: ModelSource
    private let plan: GenerationPlan

    /// - Parameter everything: Whether entities whose classes are written by hand get one too.
    /// - Throws: ``GenerationFailure`` where the classes would not compile, with all that is wrong.
    package init(_ source: ModelSource, everything: Bool = false) throws(GenerationFailure) {
        self.source = source
        plan = try GenerationPlan(source, everything: everything)
    }

    /// What was passed over, and what nothing is generated for.
    package var warnings: [Diagnostic] { source.warnings + plan.diagnostics }

    /// The names of the classes that something is generated for, in the order of their entities.
    package var classNames: [String] { plan.classes.map(\.className) }

    /// The files that Xcode makes: one for each class, one for its properties.
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

    /// Everything in one file of that name, for builds that must know the names of files beforehand.
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
    /// Writes the files into a folder, which is made where it is missing. A file that already has its text is left alone,
    /// so that nothing is built anew because of it. All are written beside their places first: where one cannot be, none is changed.
    ///
    /// - Returns: The paths of all files.
    /// - Throws: where the folder or a file cannot be written.
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

    /// Writes everything into one file, unless it already has that text.
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
