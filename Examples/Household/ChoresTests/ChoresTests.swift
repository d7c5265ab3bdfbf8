//
//  ChoresTests.swift
//  ChoresTests
//

import CoreData
import Foundation
import Testing
@testable import Chores

@Suite struct ChoresTests {

    final class Recorder: ChoreListObserver {
        var titles: [[String]] = []
        func choreList(_ list: ChoreList, didChange chores: Set<Chore>) {
            titles.append(chores.map(\.title).sorted())
        }
    }

    @Test @MainActor func observersAreTold() throws {
        let list = try ChoreList()
        let recorder = Recorder()
        list.add(recorder)
        let chore = try list.add("Sweep")
        chore.title = "Mop"
        list.context.processPendingChanges()
        #expect(recorder.titles.first == ["Sweep"])
        #expect(recorder.titles.last == ["Mop"])
    }

    @Test @MainActor func chorePastDueAreFinished() throws {
        let list = try ChoreList()
        let old = try list.add("Sweep", due: Date(timeIntervalSince1970: 0))
        try list.add("Mop", due: Date.distantFuture)
        #expect(try list.finishAll(before: Date()) == 1)
        #expect(old.isDone)
    }

    @Test @MainActor func openChoresAreCounted() throws {
        let list = try ChoreList()
        try list.add("Sweep", for: "Ada")
        try list.add("Mop", for: "Ada")
        try list.add("Cook", for: "Ben").isDone = true
        try list.context.save()
        #expect(try list.openChores() == ["Ada": 2])
    }

    @Test @MainActor func aListIsOpenedAgain() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = folder.appendingPathComponent("Chores.sqlite")
        try ChoreList(storeURL: url).add("Sweep", for: "Ada")
        let again = try ChoreList(storeURL: url)
        let chores = try again.context.fetch(NSFetchRequest<Chore>(entityName: "Chore"))
        #expect(chores.map(\.assignee?.name) == ["Ada"])
    }
}
