import Foundation
import RosterCommands

/// Where the state of a store is kept between two starts: a file of its own in the user's folder for such things.
///
/// The file is replaced as a whole. One that is missing or damaged is as if the store was never opened; the next time it is
/// written anew.
struct BrowserStateFile {
    let url: URL
    /// The path of the store; the URL of one on a server.
    private let store: String
    /// More than this is not ours, whatever it is.
    private static let greatestSize = 4 << 20

    /// - Parameter folder: where the files of all stores stand.
    init(folder: URL, store: URL) {
        let place = StorePlace(url: store.isFileURL ? store.standardizedFileURL.resolvingSymlinksInPath() : store)
        self.store = place.name
        let name = store.isFileURL ? place.url.deletingPathExtension().lastPathComponent : "server"
        url = folder.appendingPathComponent("\(name.prefix(40))-\(Self.digest(of: place.name)).json")
    }

    /// `$XDG_STATE_HOME/roster`, or `~/.local/state/roster`.
    nonisolated static var userFolder: URL {
        UserFolder.url("XDG_STATE_HOME", else: ".local/state").appendingPathComponent("roster", isDirectory: true)
    }

    func read() -> BrowserState {
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
        guard let size = attributes?[.size] as? Int, size <= Self.greatestSize, let data = try? Data(contentsOf: url),
            let state = try? JSONDecoder().decode(BrowserState.self, from: data)
        else { return BrowserState() }
        return state
    }

    /// Writes the state. Where that cannot be, the next start begins as if the store was never opened.
    func write(_ state: BrowserState) {
        var state = state
        state.store = store
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        guard let data = try? encoder.encode(state) else { return }
        let folder = url.deletingLastPathComponent()
        // What was looked at is nothing for other users.
        try? FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try? data.write(to: url, options: .atomic)
        try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
    }

    /// A number for a path that is the same in every process (FNV-1a).
    private static func digest(of path: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in path.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}
