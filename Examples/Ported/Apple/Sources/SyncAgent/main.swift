//
//  main.swift
//  SyncAgent
//

import Foundation
import SyncService

// The agent: reads articles from standard input and saves them into the store that the app has open.

guard CommandLine.arguments.count == 2 else {
    FileHandle.standardError.write(Data("usage: SyncAgent STORE < feed.json\n".utf8))
    exit(2)
}
do {
    let store = try SharedStore(url: URL(fileURLWithPath: CommandLine.arguments[1]), author: .agent)
    let count = try FeedImporter(store: store).importFeed(FileHandle.standardInput.readDataToEndOfFile())
    print("\(count) articles")
} catch {
    FileHandle.standardError.write(Data("SyncAgent: \(error.localizedDescription)\n".utf8))
    exit(1)
}
