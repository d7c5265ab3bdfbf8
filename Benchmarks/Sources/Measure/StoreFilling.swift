import CoreData
import Foundation

/// Fills a store with teams in a separate process.
struct StoreFilling {
    static let argument = "--fill"

    let url: URL
    let count: Int
    let isIndexed: Bool
    let keepsHistory: Bool

    init(url: URL, count: Int, isIndexed: Bool, keepsHistory: Bool) {
        self.url = url
        self.count = count
        self.isIndexed = isIndexed
        self.keepsHistory = keepsHistory
    }

    init(_ rest: inout ArraySlice<String>) throws {
        guard let path = rest.popFirst(), let count = rest.popFirst().flatMap({ Int($0) }),
            let isIndexed = rest.popFirst().flatMap({ Bool($0) }),
            let keepsHistory = rest.popFirst().flatMap({ Bool($0) })
        else {
            throw Options.Failure(
                description: "\(Self.argument) wants a file, a count, whether it is indexed and keeps its history")
        }
        self.init(url: URL(fileURLWithPath: path), count: count, isIndexed: isIndexed, keepsHistory: keepsHistory)
    }

    /// Starts the process and waits for it.
    func start(_ options: Options) throws {
        let own = [Self.argument, url.path, "\(count)", "\(isIndexed)", "\(keepsHistory)"]
        _ = try ChildProcess.run(own + options.sizes)
    }

    /// Runs in the started process.
    @MainActor func run(_ options: Options) throws {
        let stack = try League.Stack(url, isIndexed: isIndexed, keepsHistory: keepsHistory)
        var rest = Stage(options: options, folder: url.deletingLastPathComponent()).records(count)[...]
        while !rest.isEmpty {
            League.insert(rest.prefix(100_000), into: stack.context)
            try stack.context.save()
            stack.context.reset()
            rest = rest.dropFirst(100_000)
        }
        try stack.close()
    }
}
