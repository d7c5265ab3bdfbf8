import Foundation
import ModelFiles

// Additions that write models. On Apple's platforms Xcode and its compiler do this.
extension NSManagedObjectModel {
    /// The model as the text of a source model: the `contents` file of an `.xcdatamodel`, as Xcode writes it.
    ///
    /// - Returns: the bytes of the file, and the parts that it cannot hold, one line each.
    /// - Throws: 134060 if a predicate is a block, or a sort has a comparator or no key.
    public final func sourceContents() throws -> (data: Data, omissions: [String]) {
        let document = try ModelLoading.document(of: self)
        return (SourceModelWriter.write(document.decompiled()), document.unwritableInSource)
    }

    /// Writes the model: a source model if the name ends in `.xcdatamodel` or `.xcdatamodeld`, a compiled one if it
    /// ends in `.mom` or `.momd`. An existing model of the same form is replaced once the new one is complete.
    ///
    /// - Returns: the parts that the form cannot hold, one line each.
    /// - Throws: 134060 if a predicate is a block, or a sort has a comparator or no key, or for another name extension; a
    ///   `CocoaError` of the file-writing range.
    @discardableResult
    public final func write(to url: URL) throws -> [String] {
        let document = try ModelLoading.document(of: self)
        return try ModelLoading.translatingErrors {
            switch url.pathExtension {
            case "xcdatamodel", "xcdatamodeld":
                try SourceModelBundle.write(document, to: url)
                return document.unwritableInSource
            case "mom":
                try CompiledModelBundle.write(document, to: url)
                return []
            case "momd":
                let name = url.deletingPathExtension().lastPathComponent
                let version = CompiledModelBundle.Version(
                    name: name, model: document, writtenHashes: entityVersionHashesByName)
                try CompiledModelBundle.write([version], current: name, to: url)
                return []
            default:
                throw CoreDataError.make(
                    134060,
                    "Cannot write the model \(url.path): the name must end in .xcdatamodel, .xcdatamodeld, .mom or .momd."
                )
            }
        }
    }

    /// Compiles all versions of a source model, as Xcode's compiler does.
    ///
    /// - Parameters:
    ///   - source: an `.xcdatamodeld` or an `.xcdatamodel`.
    ///   - target: a `.momd`, or a `.mom` for the current version only.
    /// - Returns: the parts that were skipped, one line each.
    /// - Throws: a `CocoaError` of the file-reading or file-writing range.
    public class func compileModel(at source: URL, to target: URL) throws -> [String] {
        try ModelLoading.translatingErrors { try CompiledModelBundle.compile(source, to: target) }
    }
}
