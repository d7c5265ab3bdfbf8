//
//  SyncServiceTests.swift
//  SyncServiceTests
//

import CoreData
import Foundation
import XCTest

@testable import SyncService

final class SyncServiceTests: XCTestCase {

    private var folder: URL!

    override func setUpWithError() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("Sync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    override func tearDownWithError() throws {
        try FileManager.default.removeItem(at: folder)
    }

    private var storeURL: URL { folder.appendingPathComponent("Articles.sqlite") }

    private static let feed = [
        FeedItem(id: "a", headline: "Rain in the north", revision: 1, topics: ["weather"]),
        FeedItem(id: "b", headline: "Cup final 2", revision: 1, topics: ["sport"]),
        FeedItem(id: "c", headline: "Cup final 10", revision: 1, topics: ["sport", "weather"]),
    ]

    /// The folder with the package's programs.
    private var productsDirectory: URL {
        #if os(macOS)
            for bundle in Bundle.allBundles where bundle.bundlePath.hasSuffix(".xctest") {
                return bundle.bundleURL.deletingLastPathComponent()
            }
            fatalError("couldn't find the products directory")
        #else
            return Bundle.main.bundleURL
        #endif
    }

    /// Runs the agent in a separate process.
    private func runAgent(_ items: [FeedItem]) throws -> String {
        let process = Process()
        process.executableURL = productsDirectory.appendingPathComponent("SyncAgent")
        process.arguments = [storeURL.path]
        let input = Pipe()
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        input.fileHandleForWriting.write(try JSONEncoder().encode(items))
        try input.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        XCTAssertEqual(process.terminationStatus, 0)
        return text
    }

    func testAFeedIsImported() throws {
        let store = try SharedStore(url: URL(fileURLWithPath: "/dev/null"), author: .app)
        let importer = FeedImporter(store: store)
        let data = try JSONEncoder().encode(Self.feed)
        XCTAssertEqual(try importer.importFeed(data), 3)
        XCTAssertEqual(try importer.importFeed(data), 0)
        XCTAssertEqual(try store.articles().map(\.headline), ["Cup final 2", "Cup final 10", "Rain in the north"])
        XCTAssertEqual(try store.articles(about: "weather").map(\.remoteID), ["c", "a"])
    }

    func testReadArticlesAreRemovedInTheStore() throws {
        let store = try SharedStore(url: URL(fileURLWithPath: "/dev/null"), author: .app)
        let importer = FeedImporter(store: store)
        try importer.importFeed(JSONEncoder().encode(Self.feed))
        let context = store.newBackgroundContext()
        try context.performAndWait {
            for article in try context.fetch(Article.fetchRequest()) as [Article] where article.remoteID != "b" {
                article.isRead = true
            }
            try context.save()
        }
        XCTAssertEqual(try importer.removeReadArticles(before: 1), 0)
        XCTAssertEqual(try importer.removeReadArticles(before: 2), 2)
        XCTAssertEqual(try store.articles().map(\.remoteID), ["b"])
    }

    func testTheAppSeesWhatTheAgentWrites() throws {
        let store = try SharedStore(url: storeURL, author: .app)
        let follower = ChangeFollower(store: store)
        let merged = expectation(description: "merged")
        var ids: Set<NSManagedObjectID> = []
        follower.didMerge = { [unowned follower] changed in
            ids.formUnion(changed)
            if ids.count >= 5 {
                merged.fulfill()
                follower.didMerge = nil
            }
        }
        follower.start()
        XCTAssertEqual(try runAgent(Self.feed), "3 articles\n")
        wait(for: [merged], timeout: 20)
        follower.stop()
        XCTAssertEqual(try store.articles(about: "sport").map(\.headline), ["Cup final 2", "Cup final 10"])

        // A loaded article has the new revision after the merge, not before.
        let article = try XCTUnwrap(store.articles(about: "sport").first)
        XCTAssertEqual(
            try runAgent([
                FeedItem(id: "b", headline: "Cup final 3", revision: 2),
                FeedItem(id: "c", headline: "Old", revision: 0),
            ]),
            "1 articles\n")
        XCTAssertEqual(article.headline, "Cup final 2")
        try follower.mergeNewTransactions()
        XCTAssertEqual(article.headline, "Cup final 3")
        XCTAssertEqual(article.revision, 2)
    }

    func testTheAppsOwnChangesAreNotMergedAgain() throws {
        let store = try SharedStore(url: storeURL, author: .app)
        let follower = ChangeFollower(store: store)
        XCTAssertEqual(try runAgent(Self.feed), "3 articles\n")
        try follower.mergeNewTransactions()
        try store.articles().first?.isRead = true
        try store.container.viewContext.save()
        XCTAssertEqual(try follower.mergeNewTransactions(), 0)
    }

    func testThePlaceInTheHistoryOutlivesTheApp() throws {
        let tokenURL = folder.appendingPathComponent("token")
        do {
            let store = try SharedStore(url: storeURL, author: .app)
            let follower = ChangeFollower(store: store, tokenURL: tokenURL)
            XCTAssertEqual(try runAgent(Self.feed), "3 articles\n")
            XCTAssertGreaterThan(try follower.mergeNewTransactions(), 0)
            try follower.removeOldHistory()
        }
        XCTAssertEqual(try runAgent([FeedItem(id: "d", headline: "Snow", revision: 1)]), "1 articles\n")
        let store = try SharedStore(url: storeURL, author: .app)
        let follower = ChangeFollower(store: store, tokenURL: tokenURL)
        XCTAssertEqual(try follower.mergeNewTransactions(), 1)
        XCTAssertEqual(try follower.mergeNewTransactions(), 0)
        XCTAssertEqual(try store.articles().count, 4)
    }
}
