import Foundation
import Glibc

/// Reads and rewrites the files of a folder.
///
/// Links are neither followed nor replaced, so files outside the folder are never changed. Hidden folders and folders
/// that tools create are skipped.
struct SourceFolder {
    private static let leftOut: Set<String> = ["Pods", "DerivedData", "Carthage"]
    /// Maximum size of a file that is read, in bytes. Bigger files are generated data.
    static let largestFile = 64 << 20

    let path: String

    /// - Throws: ``CommandError`` if `path` is not a folder or cannot be read.
    init(_ path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw CommandError.failure("cannot read \(path): \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw CommandError.misuse("\(path) is not a folder") }
        self.path = path
    }

    /// The relative paths of its Swift files, sorted. `problem` receives an error for each folder that cannot be read.
    func swiftFiles(problem: (CommandError) -> Void) -> [String] {
        files(problem: problem) { _, _ in false }.filter { $0.hasSuffix(".swift") }
    }

    /// The relative paths of all its files, sorted.
    ///
    /// - Parameters:
    ///   - problem: Called for folders that cannot be read.
    ///   - isWhole: Returns true for folders whose path, with a slash at the end, is returned instead of their files.
    ///     Receives the path and the names in the folder. Folders that tools create are always returned this way.
    func files(problem: (CommandError) -> Void, isWhole: (_ path: String, _ names: [String]) -> Bool) -> [String] {
        var result: [String] = []
        var folders = [""]
        while let folder = folders.popLast() {
            let place = full(folder)
            let names: [String]
            do {
                names = try FileManager.default.contentsOfDirectory(atPath: place)
            } catch {
                problem(.failure("cannot read the folder \(place): \(error.localizedDescription)"))
                continue
            }
            if !folder.isEmpty, isWhole(folder, names) {
                result.append(folder + "/")
                continue
            }
            for name in names where !name.hasPrefix(".") {
                let relative = folder.isEmpty ? name : folder + "/" + name
                var status = stat()
                guard lstat(full(relative), &status) == 0 else { continue }
                switch status.st_mode & S_IFMT {
                case S_IFDIR where Self.leftOut.contains(name): result.append(relative + "/")
                case S_IFDIR: folders.append(relative)
                case S_IFREG: result.append(relative)
                default: break
                }
            }
        }
        return result.sorted()
    }

    func full(_ relative: String) -> String { relative.isEmpty ? path : path + "/" + relative }

    /// Reads a file of the folder.
    ///
    /// - Throws: ``CommandError`` that names the file.
    func read(_ relative: String) throws -> [UInt8] {
        let path = full(relative)
        // Fails for a link that has replaced the file, and does not block on a pipe.
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure("read", path) }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size <= Self.largestFile else {
            throw CommandError.failure("cannot read \(path): it has more than \(Self.largestFile >> 20) MiB")
        }
        guard let data = try handle.readToEnd() else { return [] }
        return [UInt8](data)
    }

    /// Replaces the contents of a file atomically, keeping its permissions and owner.
    ///
    /// - Parameter original: The bytes that were read. If the file has changed since, it is not written.
    /// - Throws: ``CommandError`` that names the file.
    func replace(_ relative: String, _ original: [UInt8], by contents: [UInt8]) throws {
        let path = full(relative)
        guard try read(relative) == original else {
            throw CommandError.failure("\(path) was changed by another program and was not replaced. Run port again")
        }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw Self.failure("write", path) }
        try FileWriter.replace(path, by: contents)
    }

    private static func failure(_ what: String, _ path: String) -> CommandError {
        .failure("cannot \(what) \(path): \(String(cString: strerror(errno)))")
    }
}
