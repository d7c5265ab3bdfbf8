import Foundation
import ModelFiles

// Writing models. Apple's framework leaves this to Xcode and its compiler; these members are additions.
extension NSManagedObjectModel {
    /// The model as the text of a source model: the `contents` file of an `.xcdatamodel`, as Xcode writes it.
    ///
    /// - Returns: The bytes of the file, and what it cannot say, a line each.
    /// - Throws: 134060 where a predicate or a sort is code.
    public final func sourceContents() throws -> (data: Data, omissions: [String]) {
        let document = try ModelLoading.document(of: self)
        return (SourceModelWriter.write(document.decompiled()), document.unwritableInSource)
    }

    /// Writes the model: as a source model where the name ends in `.xcdatamodel` or `.xcdatamodeld`, as a compiled one
    /// where it ends in `.mom` or `.momd`. A model of the same form that stands there is replaced when the new one is whole.
    ///
    /// - Returns: What that form cannot say, a line each.
    /// - Throws: 134060 where a predicate or a sort is code, or the name has another ending; a `CocoaError` of the
    ///   file-writing range.
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
                    "Cannot write the model \(url.path): the name ends in none of .xcdatamodel, .xcdatamodeld, .mom, .momd."
                )
            }
        }
    }

    /// Compiles a source model, all its versions, as Xcode's compiler does.
    ///
    /// - Parameters:
    ///   - source: A `.xcdatamodeld`, or an `.xcdatamodel`.
    ///   - target: A `.momd`, or for the current version alone a `.mom`.
    /// - Returns: What was passed over, a line each.
    /// - Throws: a `CocoaError` of the file-reading or file-writing range.
    public class func compileModel(at source: URL, to target: URL) throws -> [String] {
        try ModelLoading.translatingErrors { try CompiledModelBundle.compile(source, to: target) }
    }
}
