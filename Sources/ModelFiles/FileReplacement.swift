import Foundation

/// Puts files and folders in place when they are whole, and not before.
enum FileReplacement {
    /// Writes a folder of files. An item at `url` is replaced when it is a folder of which `isReplaceable` says so by
    /// the names in it.
    ///
    /// - Throws: ``ModelFileError``.
    static func folder(
        at url: URL, isReplaceable: ([String]) -> Bool, files: () -> [(name: String, data: Data)]
    ) throws {
        let manager = FileManager.default
        var isFolder: ObjCBool = false
        let stands = manager.fileExists(atPath: url.path, isDirectory: &isFolder)
        if stands {
            let names = isFolder.boolValue ? try? manager.contentsOfDirectory(atPath: url.path) : nil
            guard let names, isReplaceable(names) else {
                throw ModelFileError(
                    .unwritable, file: url.path, "something else stands there; it is not replaced")
            }
        }
        let fresh = sibling(of: url, "new"), old = sibling(of: url, "old")
        do {
            for file in files() {
                let place = fresh.appendingPathComponent(file.name)
                try manager.createDirectory(
                    at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
                try file.data.write(to: place)
            }
            if stands { try manager.moveItem(at: url, to: old) }
            try manager.moveItem(at: fresh, to: url)
            if stands { try manager.removeItem(at: old) }
        } catch {
            // What stood there before comes back.
            if !manager.fileExists(atPath: url.path) { try? manager.moveItem(at: old, to: url) }
            try? manager.removeItem(at: fresh)
            throw unwritable(url, error)
        }
    }

    /// Writes one file. A file that is replaced passes on its permissions.
    ///
    /// - Throws: ``ModelFileError``.
    static func file(at url: URL, _ data: Data) throws {
        let manager = FileManager.default
        let permissions = (try? manager.attributesOfItem(atPath: url.path))?[.posixPermissions]
        do {
            try data.write(to: url, options: .atomic)
            if let permissions { try manager.setAttributes([.posixPermissions: permissions], ofItemAtPath: url.path) }
        } catch {
            throw unwritable(url, error)
        }
    }

    /// A name beside `url` that nothing has.
    private static func sibling(of url: URL, _ what: String) -> URL {
        url.deletingLastPathComponent().appendingPathComponent(".\(url.lastPathComponent).\(what).\(UUID().uuidString)")
    }

    private static func unwritable(_ url: URL, _ error: any Error) -> ModelFileError {
        let reason = (error as NSError).localizedDescription
        return ModelFileError(.unwritable, file: url.path, "it cannot be written: \(reason)")
    }
}
