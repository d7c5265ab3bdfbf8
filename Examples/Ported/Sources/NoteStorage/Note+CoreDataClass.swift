//
//  Note+CoreDataClass.swift
//  NoteStorage
//

import Foundation
import CoreData

public class Note: NSManagedObject {

    public convenience init(title: String, in folder: Folder, context: NSManagedObjectContext) {
        self.init(context: context)
        self.title = title
        folder.addToNotes(self)
    }

    public override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(UUID(), forKey: "id")
        setPrimitiveValue(Date(), forKey: "createdAt")
    }

    public override func willSave() {
        super.willSave()
        guard !isDeleted, changedValues()["modifiedAt"] == nil else { return }
        modifiedAt = Date()
    }

    /// The first words of the body, as lists show them.
    public var excerpt: String {
        String((body ?? "").split(separator: "\n").first?.prefix(80) ?? "")
    }
}
