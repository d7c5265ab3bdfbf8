import Foundation
import RosterCommands

/// The file with the state of a store, in the user's state folder.
///
/// The file is written atomically. If it is missing or damaged, the store is shown as on its first start.
struct BrowserStateFile {
    let url: URL
    /// The path of the store, or its URL on a server.
    private let store: String
    /// Maximum size of a state file in bytes. A larger one was not written by this program and is not read.
    private static let greatestSize = 4 << 20

    /// - Parameter folder: the folder for the state files of all stores.
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

    /// Writes the state. Errors are ignored: the next start then uses defaults.
    func write(_ state: BrowserState) {
        var state = state
        state.store = store
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        guard let data = try? encoder.encode(state) else { return }
        let folder = url.deletingLastPathComponent()
        // Other users must not read the state.
        try? FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try? data.write(to: url, options: .atomic)
        try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: url.path)
    }

    /// A hash of a path that is the same in every process (FNV-1a).
    private static func digest(of path: String) -> String {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in path.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return String(hash, radix: 16)
    }
}
