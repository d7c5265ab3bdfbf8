import Foundation
import TestSupport
import Testing

@testable import CoreData
import Glibc

/// Foreign files and folders in the place of external values, and permissions of external values.
extension NeverHarmTests {
    private func replace(
        _ destination: URL, with source: URL, options: [AnyHashable: Any]? = nil
    ) throws {
        try NSPersistentStoreCoordinator(managedObjectModel: World.model()).replacePersistentStore(
            at: destination, destinationOptions: options, withPersistentStoreFrom: source, type: .sqlite)
    }

    private func values(_ world: World, _ stem: String) -> URL { world.url(".\(stem)_SUPPORT/_EXTERNAL_DATA") }

    private func names(_ folder: URL) -> Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
    }

    /// The sizes of the pictures, sorted by name; 0 if there is none.
    private func sizes(_ world: World, _ url: URL) throws -> [Int] {
        let coordinator = try world.coordinator(url)
        defer { try? coordinator.remove(coordinator.persistentStores[0]) }
        let context = coordinator.context()
        return try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Item")
            request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            return try context.fetch(request).map { ($0.value(forKey: "picture") as? Data)?.count ?? 0 }
        }
    }

    private func makeForeignFiles(in folder: URL) throws {
        try FileManager.default.createDirectory(
            at: folder.appendingPathComponent("sub"), withIntermediateDirectories: true)
        for name in ["file", "sub/f", UUID().uuidString] {
            try Data("precious".utf8).write(to: folder.appendingPathComponent(name))
        }
    }

    // MARK: Reading

    /// A pipe, a device or a sparse file of a terabyte in the place of a value: the value is missing, and nothing waits
    /// for or reads the file.
    @Test(arguments: ["pipe", "terabyte", "link"]) func filesThatAreNoValues(_ kind: String) throws {
        let world = try World()
        let url = world.url("s.sqlite")
        try world.fill(url, "one", pictureSize: 300_000)
        #expect(try sizes(world, url) == [300_000])
        let name = try #require(names(values(world, "s")).first { UUID(uuidString: $0) != nil })
        let file = values(world, "s").appendingPathComponent(name).path
        let kept = world.url("kept").path
        try #require(rename(file, kept) == 0)
        switch kind {
        case "pipe": try #require(mkfifo(file, 0o600) == 0)
        case "link": try #require(symlink("/dev/zero", file) == 0)
        default:
            try Data().write(to: URL(fileURLWithPath: file))
            try #require(truncate(file, 1 << 40) == 0)
        }
        #expect(try sizes(world, url) == [0])
        let coordinator = try world.coordinator(url)
        let findings = try coordinator.findings(in: coordinator.persistentStores[0])
        #expect(findings.contains { "\($0)".contains(name) }, "\(findings)")
        try coordinator.remove(coordinator.persistentStores[0])
        try #require(rename(kept, file) == 0)
        #expect(try sizes(world, url) == [300_000])
    }

    // MARK: Replacing

    @Test(arguments: [false, true], [false, true])
    func replacingLeavesForeignFilesAlone(isLinked: Bool, hasStore: Bool) throws {
        let world = try World()
        let (source, destination) = (world.url("p.sqlite"), world.url("n.sqlite"))
        try world.fill(source, "new")
        if hasStore { try world.fill(destination, "old") }
        let folder = isLinked ? world.url("victim") : values(world, "n")
        try makeForeignFiles(in: folder)
        // If there is no store, these files belong to a store that was moved.
        if !hasStore, !isLinked {
            for name in names(folder) where UUID(uuidString: name) != nil {
                try FileManager.default.removeItem(at: folder.appendingPathComponent(name))
            }
        }
        if isLinked {
            try FileManager.default.createDirectory(at: world.url(".n_SUPPORT"), withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(at: values(world, "n"), withDestinationURL: folder)
        }
        let before = names(folder)
        #expect(before.isSuperset(of: ["file", "sub"]))
        try replace(destination, with: source)
        #expect(names(folder) == before && names(folder.appendingPathComponent("sub")) == ["f"])
        #expect(try world.names(destination) == ["new"])
    }

    @Test func theValuesOfTheReplacedStoreGo() throws {
        let world = try World()
        let (source, destination) = (world.url("p.sqlite"), world.url("n.sqlite"))
        try world.fill(source, "new", pictureSize: 300_000)
        try world.fill(destination, "old", pictureSize: 200_000)
        try replace(destination, with: source)
        #expect(names(values(world, "n")) == names(values(world, "p")))
        #expect(try sizes(world, destination) == [300_000])
        // Replacing again keeps the values that both stores have.
        try replace(destination, with: source)
        #expect(try sizes(world, destination) == [300_000] && sizes(world, source) == [300_000])
        // A copy with another extension uses the same folder.
        try replace(world.url("p.db"), with: source)
        #expect(try sizes(world, world.url("p.db")) == [300_000] && sizes(world, source) == [300_000])
    }

    @Test func theValuesOfAMovedStoreAreNotTakenForANewOnes() throws {
        let world = try World()
        let (source, place) = (world.url("p.sqlite"), world.url("n.sqlite"))
        try world.fill(source, "new", pictureSize: 300_000)
        try world.fill(place, "old", pictureSize: 200_000)
        try FileManager.default.moveItem(at: place, to: world.url("backup-of-n"))
        for suffix in ["-wal", "-shm"] { unlink(place.path + suffix) }
        let before = names(values(world, "n"))
        #expect(before.count == 1)
        let coordinator = try world.coordinator(source)
        let store = coordinator.persistentStores[0]
        let attempts: [() throws -> Void] = [
            { try self.replace(place, with: source) },
            { try self.replace(place, with: source, options: [NSPersistentStoreForceDestroyOption: true]) },
            { _ = try coordinator.migratePersistentStore(store, to: place, type: .sqlite) },
        ]
        for attempt in attempts {
            let error = #expect(throws: NSError.self) { try attempt() }
            #expect(error?.code == 516 && error?.localizedDescription.contains(".n_SUPPORT") == true, "\(error as Any)")
        }
        #expect(names(values(world, "n")) == before && PlainFile.kind(place.path) == .nothing)
        #expect(coordinator.persistentStores == [store])
        // A copy of the rows does not overwrite them, either.
        let memory = NSPersistentStoreCoordinator(managedObjectModel: World.model())
        let full = try memory.addPersistentStore(type: .inMemory, at: URL(fileURLWithPath: "/dev/null"))
        #expect(thrownCode { _ = try memory.migratePersistentStore(full, to: place, type: .sqlite) } == 516)
        #expect(names(values(world, "n")) == before)
        try FileManager.default.moveItem(at: world.url(".n_SUPPORT"), to: world.url(".backup-of-n_SUPPORT"))
        try replace(place, with: source)
        #expect(try sizes(world, place) == [300_000] && sizes(world, world.url("backup-of-n")) == [200_000])
    }

    @Test(.timeLimit(.minutes(10))) func aPipeAmongTheValuesKeepsNoCopyWaiting() throws {
        let world = try World()
        let (source, destination) = (world.url("p.sqlite"), world.url("n.sqlite"))
        try world.fill(source, "new", pictureSize: 300_000)
        let folder = values(world, "p")
        let name = try #require(names(folder).first)
        #expect(mkfifo(folder.appendingPathComponent(UUID().uuidString).path, 0o600) == 0)
        try replace(destination, with: source)
        #expect(names(values(world, "n")) == [name])
        // The same with a pipe in the place of the value.
        unlink(folder.appendingPathComponent(name).path)
        #expect(mkfifo(folder.appendingPathComponent(name).path, 0o600) == 0)
        try replace(world.url("m.sqlite"), with: source)
        #expect(names(values(world, "m")).isEmpty)
        #expect(try sizes(world, source) == [0])
    }

    // MARK: Links

    @Test(arguments: [false, true]) func linksInThePlaceOfFoldersAreNotFollowed(isOuter: Bool) throws {
        let world = try World()
        let url = world.url("a.sqlite")
        try world.fill(url, "big", pictureSize: 300_000)
        let folder = isOuter ? world.url(".a_SUPPORT") : values(world, "a")
        let elsewhere = world.url("elsewhere")
        try FileManager.default.moveItem(at: folder, to: elsewhere)
        try FileManager.default.createSymbolicLink(at: folder, withDestinationURL: elsewhere)
        let outside = isOuter ? elsewhere.appendingPathComponent("_EXTERNAL_DATA") : elsewhere
        let before = names(outside)
        #expect(before.count == 1)
        #expect(try sizes(world, url) == [0])
        let coordinator = try world.coordinator(url)
        let context = coordinator.context()
        let error = #expect(throws: NSError.self) { try context.fill("second", pictureSize: 300_000) }
        #expect(error?.code == 512 && error?.localizedDescription.contains("a link") == true, "\(error as Any)")
        context.performAndWait { context.rollback() }
        try context.fill("small", pictureSize: 10)
        // Removed values are kept, too.
        #expect(throws: Never.self) {
            try context.performAndWait {
                let item = try #require(
                    context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Item")).first {
                        $0.value(forKey: "name") as? String == "small"
                    })
                context.delete(item)
                try context.save()
            }
        }
        let store = coordinator.persistentStores[0]
        let findings = try coordinator.findings(in: store)
        #expect(findings.contains { $0.kind == .externalData }, "\(findings)")
        try coordinator.remove(store)
        try replace(world.url("b.sqlite"), with: url)
        #expect(names(values(world, "b")).isEmpty)
        try NSPersistentStoreCoordinator(managedObjectModel: World.model()).destroyPersistentStore(
            at: url, type: .sqlite)
        #expect(names(outside) == before)
    }

    @Test func aStoresOwnFolderMayBeALink() throws {
        let world = try World()
        try FileManager.default.createDirectory(at: world.url("real"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(at: world.url("link"), withDestinationURL: world.url("real"))
        let url = world.url("link/a.sqlite")
        try world.fill(url, "big", pictureSize: 300_000)
        #expect(try sizes(world, url) == [300_000])
        #expect(names(world.url("real/.a_SUPPORT/_EXTERNAL_DATA")).count == 1)
    }

    // MARK: Permissions

    @Test func copiesAndValuesAreAsPrivateAsTheirStore() throws {
        let world = try World()
        let url = world.url("a.sqlite")
        try world.fill(url, "first", pictureSize: 300_000)
        func mode(_ url: URL) -> mode_t? { PlainFile.permissions(url.path) }
        chmod(url.path, 0o600)
        chmod(world.url(".a_SUPPORT").path, 0o700)
        let old = names(values(world, "a"))
        try world.fill(url, "second", pictureSize: 300_000)
        let new = try #require(names(values(world, "a")).subtracting(old).first)
        #expect(mode(values(world, "a").appendingPathComponent(new)) == 0o600)
        try replace(world.url("b.sqlite"), with: url)
        #expect(mode(world.url("b.sqlite")) == 0o600 && mode(world.url(".b_SUPPORT")) == 0o700)
        #expect(mode(values(world, "b").appendingPathComponent(new)) == 0o600)
        // The new files have the permissions of the replaced store.
        try world.fill(world.url("c.sqlite"), "third")
        chmod(world.url("c.sqlite").path, 0o644)
        try replace(url, with: world.url("c.sqlite"))
        #expect(mode(url) == 0o600)
        for type in [NSPersistentStore.StoreType.xml, .binary] {
            let coordinator = try world.coordinator(world.url("b.sqlite"))
            let made = world.url("b.\(type.rawValue)"), copy = world.url("c.\(type.rawValue)")
            let new = try coordinator.migratePersistentStore(coordinator.persistentStores[0], to: made, type: type)
            #expect(mode(made) == 0o600)
            try coordinator.remove(new)
            try coordinator.replacePersistentStore(at: copy, withPersistentStoreFrom: made, type: type)
            #expect(mode(copy) == 0o600)
        }
    }

    @Test(.needs(.process)) func newStoresFollowTheUmask() async {
        await #expect(processExitsWith: .success) {
            let world = try NeverHarmTests.World()
            for (mask, expected) in [(mode_t(0), mode_t(0o666)), (0o027, 0o640), (0o022, 0o644)] {
                umask(mask)
                let url = world.url("\(mask).sqlite")
                let coordinator = try world.coordinator(url)
                try coordinator.context().fill("a")
                guard PlainFile.permissions(url.path) == expected else { exit(3) }
                guard PlainFile.permissions(url.path + "-wal") == expected else { exit(4) }
                try coordinator.remove(coordinator.persistentStores[0])
            }
        }
    }
}
