//
//  PersistenceController.swift
//  Spending
//

import CoreData
import os

/// Owns the Core Data stack.
public final class PersistenceController {

    private static let logger = Logger(subsystem: "org.example.household", category: "persistence")

    /// Loaded once: two models with the same entities confuse `entity()`.
    private static let model: NSManagedObjectModel = {
        guard let url = Bundle.module.url(forResource: "Spending", withExtension: "momd"),
              let model = NSManagedObjectModel(contentsOf: url) else {
            fatalError("Spending.momd is missing")
        }
        return model
    }()

    public let container: NSPersistentContainer

    public var viewContext: NSManagedObjectContext { container.viewContext }

    public init(inMemory: Bool = false) {
        container = NSPersistentContainer(name: "Spending", managedObjectModel: Self.model)
        if inMemory {
            container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
        }
        container.loadPersistentStores { description, error in
            if let error = error as NSError? {
                Self.logger.fault("Store failed to load: \(error, privacy: .public), \(error.userInfo)")
            } else {
                Self.logger.debug("Loaded \(description.url?.lastPathComponent ?? "?", privacy: .public)")
            }
        }
        container.viewContext.automaticallyMergesChangesFromParent = true
        container.viewContext.mergePolicy = NSMergeByPropertyObjectTrumpMergePolicy
    }

    public func save() {
        guard viewContext.hasChanges else { return }
        do {
            try viewContext.save()
        } catch {
            Self.logger.error("Save failed: \(error.localizedDescription, privacy: .public)")
            viewContext.rollback()
        }
    }
}
