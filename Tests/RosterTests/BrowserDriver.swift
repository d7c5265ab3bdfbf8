import CoreData
import Foundation
import Synchronization
import TerminalKit
import Testing

@testable import Roster

/// Runs the browser on a scripted screen.
@MainActor
final class BrowserDriver {
    let screen: ScriptedScreen
    let browser: Browser
    /// Names of the list caches on disk, which are deleted after the test.
    private var cacheNames: Set<String> = []

    /// - Parameter settles: true to finish background work before the next key.
    init(
        _ options: BrowserOptions, width: Int = 80, height: Int = 24, repertoire: TextWidth.Repertoire = .unicode,
        settles: Bool = true
    ) {
        self.settles = settles
        screen = ScriptedScreen(width: width, height: height, repertoire: repertoire)
        browser = Browser(options: options)
        browser.open()
        if settles { settle() }
        draw()
    }

    /// The teams by zone, as the sample is opened.
    convenience init(
        teamsOf fixture: Fixture, width: Int = 80, height: Int = 24, repertoire: TextWidth.Repertoire = .unicode
    ) {
        self.init(
            BrowserOptions(
                storeURL: fixture.storeURL, entityName: "Team", sectionKeyPath: "qualifyingZone",
                sortKeys: "wins:desc,teamName"),
            width: width, height: height, repertoire: repertoire)
    }

    /// A list of `count` teams by name, with small limits, when it is loaded. The store does not keep a history.
    static func ofManyTeams(_ count: Int, in fixture: Fixture, settles: Bool = true) async throws -> BrowserDriver {
        try fixture.fillWithManyTeams(count)
        var options = BrowserOptions(storeURL: fixture.storeURL, entityName: "Team", sortKeys: "teamName")
        options.limits = .small
        let driver = BrowserDriver(options, settles: settles)
        let counted = GroupedNumber.text(count)
        try await driver.wait(for: "the list") { driver.text.contains("\(counted) Teams") }
        return driver
    }

    /// Presses keys, in the notation of `KeySequence`.
    func keys(_ notation: String) {
        screen.send(keys: notation)
        step()
    }

    /// Types text literally.
    func type(_ text: String) {
        screen.send(text: text)
        step()
    }

    /// Types a command after a colon and accepts it.
    func command(_ text: String) {
        keys(":")
        type(text)
        keys("<Enter>")
    }

    func send(_ event: Event) {
        screen.send(event)
        step()
    }

    private func step() {
        for event in screen.readEvents() { browser.handle(event) }
        if settles { settle() }
        draw()
    }

    var settles: Bool

    /// Lets the browser finish the work that it does between keys.
    func settle() {
        while browser.list?.find.isSearching == true { browser.wake() }
        while browser.opening != nil || (browser.layers.top as? any WorkingLayer)?.isWorking ?? false {
            usleep(2000)
            browser.wake()
        }
    }

    func draw() {
        EventLoop.show(browser, on: screen)
        if let name = browser.list?.records.controller.cacheName { cacheNames.insert(name) }
    }

    isolated deinit {
        for name in cacheNames { NSFetchedResultsController<NSManagedObject>.deleteCache(withName: name) }
    }

    func resize(width: Int, height: Int) {
        screen.resize(width: width, height: height)
        step()
    }

    func click(x: Int, y: Int) { send(.mouse(MouseEvent(.press, at: Point(x: x, y: y)))) }

    /// Moves the cursor to a record by searching for its name.
    func find(_ name: String) {
        keys("/")
        type(name)
        keys("<Enter>")
        #expect(selectedLine?.contains(name) == true)
    }

    /// Sets a field of the record under the cursor, in the form.
    func set(_ title: String, to text: String) {
        keys("E")
        for _ in 0..<20 where screen.frame.cursor.map({ lines[$0.y].contains(title) }) != true { keys("<Tab>") }
        keys("<C-u>")
        type(text)
        keys("<Enter>")
    }

    func edit(_ title: String, of name: String, to text: String) {
        find(name)
        set(title, to: text)
    }

    var lines: [String] { screen.lines }

    var text: String { lines.joined(separator: "\n") }

    /// The line under the cursor bar, without the mark.
    var selectedLine: String? {
        (0..<screen.size.height).first { y in
            screen.frame.line(y).contains { $0.style.isSelected && $0.style.role != .columnTitle }
                && (1..<screen.size.height - 1).contains(y)
        }.map { lines[$0].trimmingCharacters(in: .whitespaces) }
    }

    /// The number of the first line that contains a text.
    func line(of text: String) -> Int? { lines.firstIndex { $0.contains(text) } }

    /// Waits until a condition is true. Work on the main queue continues.
    func wait(
        for what: String, seconds: Double = 60, sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: () -> Bool
    ) async throws {
        let end = ContinuousClock.now + .seconds(seconds)
        var rounds = 0
        while !condition() {
            rounds += 1
            // A busy main thread can let time pass without any progress here, so require some rounds too.
            guard ContinuousClock.now < end || rounds < 300 else {
                Issue.record("\(what) did not happen:\n\(text)", sourceLocation: sourceLocation)
                return
            }
            try await Task.sleep(for: .milliseconds(5))
            if let wake = browser.nextWake, wake <= .now { browser.wake() }
            draw()
        }
    }

    /// Compares the screen with the file in `Golden/`. With `ROSTER_UPDATE_GOLDEN=1`, writes the file.
    func expectGolden(_ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden")
        let file = folder.appendingPathComponent("\(name).txt")
        let dump = screen.dump()
        if ProcessInfo.processInfo.environment["ROSTER_UPDATE_GOLDEN"] == "1" {
            try dump.write(to: file, atomically: true, encoding: .utf8)
            return
        }
        let expected = try String(contentsOf: file, encoding: .utf8)
        #expect(dump == expected, "\(name):\n\(dump)", sourceLocation: sourceLocation)
    }
}

extension WorkLimits {
    /// A hundred records are many, a piece of work ends at its first check of the clock, and waiting times are zero.
    static let small: WorkLimits = {
        var limits = WorkLimits()
        (limits.longList, limits.longSave, limits.changesSortedAtOnce, limits.histogramLines) = (100, 100, 100, 100)
        (limits.rowsAtOnce, limits.changesBlock, limits.editGroup, limits.recordsPerLook) = (32, 32, 16, 16)
        (limits.markedAtOnce, limits.matchesLookedUp, limits.placesLookedUp, limits.clipboard) = (50, 20, 10, 2000)
        (limits.slice, limits.searchSlice) = (.zero, .zero)
        (limits.restBeforeCounting, limits.countInterval, limits.lockPause) = (.zero, .zero, .zero)
        return limits
    }()
}

/// Counts notifications that the browser's store has commits, which arrive after the context has merged them.
@MainActor
final class ToldCommits {
    private final class Count: Sendable { let value = Mutex(0) }

    private let count = Count()
    private var observer: (any NSObjectProtocol)?

    init(of driver: BrowserDriver) throws {
        let coordinator = try #require(driver.browser.session).container.persistentStoreCoordinator
        observer = NotificationCenter.default.addObserver(
            forName: .NSPersistentStoreRemoteChange, object: coordinator, queue: nil
        ) { [count] _ in count.value.withLock { $0 += 1 } }
    }

    isolated deinit { if let observer { NotificationCenter.default.removeObserver(observer) } }

    /// Runs `body`, which commits, and waits for the notification.
    func next(_ driver: BrowserDriver, after body: () throws -> Void) async throws {
        let before = count.value.withLock { $0 }
        try body()
        try await driver.wait(for: "the word of a commit", seconds: 60) { count.value.withLock { $0 } > before }
        driver.draw()
    }
}
