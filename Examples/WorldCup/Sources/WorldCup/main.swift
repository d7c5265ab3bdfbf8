import CoreData

// Prints the teams of a zone and their venues from a store made by `roster`. The plugin generates Team, Venue and
// Location from the sample's model.
guard CommandLine.arguments.count > 1 else {
    print("usage: WorldCup STORE [ZONE]")
    exit(2)
}
let container = NSPersistentContainer(name: "WorldCup")
let description = NSPersistentStoreDescription(url: URL(fileURLWithPath: CommandLine.arguments[1]))
description.setOption(true as NSNumber, forKey: NSReadOnlyPersistentStoreOption)
container.persistentStoreDescriptions = [description]
container.loadPersistentStores { _, error in
    guard let error else { return }
    print(error.localizedDescription)
    exit(1)
}

let request = Team.fetchRequest()
request.predicate = NSPredicate(format: "qualifyingZone == %@", CommandLine.arguments.dropFirst(2).first ?? "OFC")
request.sortDescriptors = [
    NSSortDescriptor(keyPath: \Team.wins, ascending: false), NSSortDescriptor(keyPath: \Team.teamName, ascending: true),
]
for team in try container.viewContext.fetch(request) {
    print(team.wins, team.teamName ?? "", terminator: "")
    if let venue = team.homeVenue, let location = venue.location {
        print(" -", venue.name ?? "", location.latitude, location.longitude, terminator: "")
    }
    print()
}
