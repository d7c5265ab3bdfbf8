//
//  NoteStorageTests.swift
//  NoteStorageTests
//

import CoreData
import XCTest

@testable import NoteStorage

final class NoteStorageTests: XCTestCase {

    private var store: NoteStore!

    override func setUpWithError() throws {
        store = NoteStore(url: URL(fileURLWithPath: "/dev/null"))
        try store.importNotes(
            [
                NoteDraft(title: "Shopping", body: "Milk\nBread", tags: ["home"]),
                NoteDraft(title: "bicycle", body: "New chain", tags: ["home", "garage"]),
            ], into: "Private")
        try store.importNotes([NoteDraft(title: "Agenda", body: "Milk the numbers", tags: ["team"])], into: "Work")
    }

    override func tearDown() {
        store = nil
    }

    func testNotesAreFound() throws {
        XCTAssertEqual(try store.notes(matching: "milk").map(\.title), ["Agenda", "Shopping"])
        XCTAssertEqual(try store.notes(matching: "MILK", taggedWith: "Home").map(\.title), ["Shopping"])
        XCTAssertEqual(try store.notes(matching: "").count, 3)
        let first = try XCTUnwrap(store.notes(matching: "bicycle").first)
        XCTAssertEqual(
            first.tags as? Set<Tag>,
            Set(try ["garage", "home"].map { try store.tag(named: $0, in: store.viewContext) }))
        XCTAssertEqual(try store.note(id: XCTUnwrap(first.id)), first)
        XCTAssertEqual(first.excerpt, "New chain")
        XCTAssertNotNil(first.createdAt)
        XCTAssertNotNil(first.modifiedAt)
    }

    func testFoldersKeepTheirOrder() throws {
        let folder = try store.folder(named: "private")
        XCTAssertEqual(folder.notes?.array.compactMap { ($0 as? Note)?.title }, ["Shopping", "bicycle"])
        let note = Note(title: "First", in: folder, context: store.viewContext)
        folder.removeFromNotes(note)
        folder.insertIntoNotes(note, at: 0)
        let second = try XCTUnwrap(folder.notes?.object(at: 1) as? Note)
        folder.removeFromNotes(at: 1)
        folder.addToNotes(second)
        try store.saveIfNeeded()
        store.viewContext.refreshAllObjects()
        XCTAssertEqual(folder.notes?.array.compactMap { ($0 as? Note)?.title }, ["First", "bicycle", "Shopping"])
    }

    func testAnEditorShowsNothingBeforeItIsSaved() throws {
        let list = try NoteList(store: store)
        let note = try XCTUnwrap(store.notes(matching: "Agenda").first)
        let editor = try NoteEditor(editing: note)
        editor.setTitle("Minutes")
        try editor.addTag(named: "archive")
        XCTAssertTrue(editor.hasChanges)
        XCTAssertEqual(note.title, "Agenda")
        XCTAssertTrue(list.events.isEmpty)
        try editor.save()
        XCTAssertEqual(note.title, "Minutes")
        XCTAssertEqual(list.titles(inSection: 1), ["Minutes"])
        XCTAssertEqual(list.events, ["~ Minutes"])
        XCTAssertFalse(store.viewContext.hasChanges)
        XCTAssertEqual(try store.tag(named: "archive", in: store.viewContext).notes, [note])
    }

    func testAnEditorUndoesAndCancels() throws {
        let note = try XCTUnwrap(store.notes(matching: "Shopping").first)
        let editor = try NoteEditor(editing: note)
        editor.setTitle("Errands")
        editor.setTitle("Chores")
        editor.undo()
        XCTAssertEqual(editor.note.title, "Errands")
        editor.cancel()
        XCTAssertEqual(editor.note.title, "Shopping")
        let other = try NoteEditor(newNoteIn: store.folder(named: "Private"))
        other.setTitle("Never")
        other.cancel()
        XCTAssertFalse(other.hasChanges)
        XCTAssertEqual(try store.notes(matching: "Never").count, 0)
    }

    func testTheListFollows() throws {
        let list = try NoteList(store: store)
        XCTAssertEqual(list.sectionTitles, ["Private", "Work"])
        XCTAssertEqual(list.titles(inSection: 0), ["bicycle", "Shopping"])
        list.note(at: IndexPath(indexes: [0, 1])).isPinned = true
        let editor = try NoteEditor(newNoteIn: store.folder(named: "Ideas"))
        editor.setTitle("Kite")
        try editor.save()
        XCTAssertEqual(list.sectionTitles, ["Ideas", "Private", "Work"])
        XCTAssertEqual(list.titles(inSection: 1), ["Shopping", "bicycle"])
        XCTAssertTrue(list.events.contains("+ section Ideas"))
        XCTAssertTrue(list.events.contains("+ Kite"))
    }

    func testAFolderIsClearedInTheStore() throws {
        let list = try NoteList(store: store)
        XCTAssertEqual(try store.clearFolder(named: "private"), 2)
        XCTAssertEqual(list.sectionTitles, ["Work"])
        XCTAssertEqual(try store.notes(matching: "").map(\.title), ["Agenda"])
        XCTAssertEqual(try store.folder(named: "Private").notes?.count, 0)
    }

    func testAFolderNeedsAName() throws {
        _ = try store.folder(named: "  ")
        XCTAssertThrowsError(try store.saveIfNeeded()) { error in
            XCTAssertEqual((error as NSError).code, NSValidationStringTooShortError)
        }
    }
}
