import Foundation
import Translation
import Glibc

/// The Swift files of a folder, as `port` reads and rewrites them.
///
/// Links are not followed and not replaced, so that nothing outside the folder is touched; hidden folders and those that tools make
/// are left out.
struct SourceFolder {
    private static let leftOut: Set<String> = ["Pods", "DerivedData", "Carthage"]
    /// Bigger files are generated data, and are left alone.
    static let largestFile = 64 << 20

    let path: String

    /// - Throws: ``CommandError`` when there is no folder at `path`.
    init(_ path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw CommandError.failure("cannot read \(path): \(String(cString: strerror(errno)))")
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw CommandError.misuse("\(path) is not a folder") }
        self.path = path
    }

    /// The paths of its Swift files, relative to it, in their order; `problem` hears of folders that cannot be read.
    func swiftFiles(problem: (CommandError) -> Void) -> [String] {
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
            for name in names where !name.hasPrefix(".") {
                let relative = folder.isEmpty ? name : folder + "/" + name
                var status = stat()
                guard lstat(full(relative), &status) == 0 else { continue }
                switch status.st_mode & S_IFMT {
                case S_IFDIR where !Self.leftOut.contains(name): folders.append(relative)
                case S_IFREG where name.hasSuffix(".swift"): result.append(relative)
                default: break
                }
            }
        }
        return result.sorted()
    }

    func full(_ relative: String) -> String { relative.isEmpty ? path : path + "/" + relative }

    /// - Throws: ``CommandError`` that names the file.
    func read(_ relative: String) throws -> [UInt8] {
        let path = full(relative)
        // Not a link that took the file's place meanwhile, and no pipe to wait for.
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

    /// Puts new contents in the place of a file that was read, whole or not at all, with its permissions and owner.
    ///
    /// - Parameter original: what was read: where something else stands there now, nothing is written.
    /// - Throws: ``CommandError`` that names the file.
    func replace(_ relative: String, _ original: [UInt8], by contents: [UInt8]) throws {
        let path = full(relative)
        guard try read(relative) == original else {
            throw CommandError.failure("\(path) was changed by another program and was left as it is. Run port again")
        }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw Self.failure("write", path) }
        let output = try FileOutput(OutputPlace(path))
        try output.write(bytes: contents)
        try output.finish()
    }

    private static func failure(_ what: String, _ path: String) -> CommandError {
        .failure("cannot \(tr(what)) \(path): \(String(cString: strerror(errno)))")
    }
}
