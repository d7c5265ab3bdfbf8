import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Links in the place of values, and folders that the framework creates.
extension NeverHarmTests {
    @Test func aLinkIsNotAnExternalValue() throws {
        let world = try World()
        let url = world.url("Store.sqlite")
        try world.fill(url, "picture", pictureSize: 300_000)
        let folder = world.url(".Store_SUPPORT/_EXTERNAL_DATA")
        let name = try #require(FileManager.default.contentsOfDirectory(atPath: folder.path).first)
        let secret = world.url("secret")
        try Data(repeating: 1, count: 300_000).write(to: secret)
        try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
        try FileManager.default.createSymbolicLink(at: folder.appendingPathComponent(name), withDestinationURL: secret)
        let context = try world.coordinator(url).context()
        try context.performAndWait {
            let item = try #require(context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).first)
            #expect(item.value(forKey: "picture") == nil)
        }
    }

    @Test(.needs(.process)) func cachesAreInTheHomeFolderOfTheEnvironment() async {
        await #expect(processExitsWith: .success) {
            let world = try NeverHarmTests.World()
            unsetenv("XDG_CACHE_HOME")
            unsetenv("XDG_DATA_HOME")
            setenv("HOME", world.folder.path, 1)
            #expect(ResultsCacheDirectory.path.hasPrefix(world.folder.path + "/.cache/"))
            #expect(ChangeToken.notesFolder.path.hasPrefix(world.folder.path + "/.cache/"))
            try FileManager.default.createDirectory(
                atPath: ResultsCacheDirectory.path, withIntermediateDirectories: true)
            // As another program or an earlier version may have left them.
            let own = [ResultsCacheDirectory.path, (ResultsCacheDirectory.path as NSString).deletingLastPathComponent]
            for path in own { chmod(path, 0o777) }
            let caches = world.folder.path + "/.cache"
            chmod(caches, 0o755)
            try ResultsCacheDirectory.create()
            for path in own where PlainFile.permissions(path) != 0o700 { exit(6) }
            guard PlainFile.permissions(caches) == 0o755 else { exit(7) }
            let attributes = try FileManager.default.attributesOfItem(atPath: ResultsCacheDirectory.path)
            guard attributes[.posixPermissions] as? Int == 0o700 else { exit(3) }
            guard ResultsCacheDirectory.path.hasPrefix(world.folder.path + "/.cache/") else { exit(4) }
            let data = NSPersistentContainer.defaultDirectoryURL().deletingLastPathComponent().path
            guard data == world.folder.path + "/.local/share" else { exit(5) }
        }
    }
}
