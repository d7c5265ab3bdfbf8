import CoreData

let container = NSPersistentContainer(name: "Notes")
container.loadPersistentStores { _, error in if let error { fatalError(error.localizedDescription) } }
let note = Note(context: container.viewContext)
note.text = CommandLine.arguments.dropFirst().joined(separator: " ")
try container.viewContext.save()
for note in try container.viewContext.fetch(Note.fetchRequest()) { print(note.importance, note.text ?? "") }
