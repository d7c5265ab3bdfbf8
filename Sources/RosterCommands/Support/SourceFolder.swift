import Foundation
import Translation

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

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
        guard status.st_mode & S_IFMT == S_IFDIR else { throw CommandError.misuse("\(path) is no folder") }
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
        guard access(path, W_OK) == 0 else { throw Self.failure("write", path) }
        guard try read(relative) == original else {
            throw CommandError.failure("\(path) was changed meanwhile and is left alone: port again")
        }
        var status = stat()
        guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw Self.failure("write", path) }
        let temporary = "\(path).\(getpid()).part"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure("write", path) }
        do {
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try handle.write(contentsOf: Data(contents))
            // Only the superuser may give a file away; for others it is theirs already.
            if status.st_uid != geteuid() || status.st_gid != getegid() {
                _ = fchown(descriptor, status.st_uid, status.st_gid)
            }
            guard fchmod(descriptor, status.st_mode & 0o7777) == 0, fsync(descriptor) == 0,
                rename(temporary, path) == 0
            else { throw Self.failure("write", path) }
        } catch {
            unlink(temporary)
            throw error is CommandError
                ? error : CommandError.failure("cannot write \(path): \(error.localizedDescription)")
        }
    }

    private static func failure(_ what: String, _ path: String) -> CommandError {
        .failure("cannot \(tr(what)) \(path): \(String(cString: strerror(errno)))")
    }
}
