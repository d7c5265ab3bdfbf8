import CoreData
import Foundation

// Relationships of every form: of an entity with itself, one-way, and ordered at one end or at both.
extension StoreConformance {
    static let relationshipScenarios = [
        Scenario("keeps relationships of an entity with itself", keepsSelfRelationships),
        Scenario("keeps one-way relationships", keepsOneWayRelationships),
        Scenario("keeps ordered many-to-many relationships", keepsOrderedManyToMany),
    ]

    private static func set(_ names: String..., of known: [String: NSManagedObject]) -> NSSet {
        NSSet(array: names.compactMap { known[$0] })
    }

    private static func list(_ names: String..., of known: [String: NSManagedObject]) -> NSOrderedSet {
        NSOrderedSet(array: names.compactMap { known[$0] })
    }

    /// Ada, Bo, Cy and Di: parents and children, friends (Cy is also a friend of herself), and partners.
    func fillPeople() throws {
        try inContext { context in
            for name in ["Ada", "Bo", "Cy", "Di"] { _ = context.make("Person", named: name) }
            let people = try context.named("Person")
            people["Ada"]?.setValue(Self.set("Bo", "Cy", of: people), forKey: "children")
            people["Di"]?.setValue(people["Bo"], forKey: "parent")
            people["Ada"]?.setValue(Self.set("Bo", "Cy", of: people), forKey: "friends")
            people["Cy"]?.mutableSetValue(forKey: "friends").add(try need(people["Cy"], "Cy"))
            people["Ada"]?.setValue(people["Di"], forKey: "partner")
            try context.save()
        }
    }

    @Sendable private static func keepsSelfRelationships(_ stack: StoreConformance) throws {
        try stack.fillPeople()
        try stack.inEachState { context in
            try expect(
                try context.ties(of: "Person"),
                [
                    "Ada": "children: Bo Cy, friends: Bo Cy, partner: Di",
                    "Bo": "children: Di, friends: Ada, parent: Ada",
                    "Cy": "friends: Ada Cy, parent: Ada", "Di": "parent: Bo, partner: Ada",
                ], "the people")
        }
        try stack.inContext { context in
            let people = try context.named("Person")
            people["Bo"]?.mutableSetValue(forKey: "children").add(try need(people["Cy"], "Cy"))
            people["Bo"]?.mutableSetValue(forKey: "friends").remove(try need(people["Ada"], "Ada"))
            people["Di"]?.mutableSetValue(forKey: "friends").add(try need(people["Bo"], "Bo"))
            people["Bo"]?.setValue(people["Ada"], forKey: "partner")
            people["Di"]?.setValue(people["Di"], forKey: "partner")
            people["Cy"]?.setValue(people["Cy"], forKey: "parent")
            try context.save()
        }
        try stack.inEachState { context in
            try expect(
                try context.ties(of: "Person"),
                [
                    "Ada": "children: Bo, friends: Cy, partner: Bo",
                    "Bo": "children: Di, friends: Di, parent: Ada, partner: Ada",
                    "Cy": "children: Cy, friends: Ada Cy, parent: Cy", "Di": "friends: Bo, parent: Bo, partner: Di",
                ], "the people after changes at both ends")
        }
        try stack.inContext { context in
            for name in ["Ada", "Di"] { context.delete(try need(try context.named("Person")[name], name)) }
            try context.save()
        }
        try stack.inEachState { context in
            try expect(
                try context.ties(of: "Person"), ["Bo": "", "Cy": "children: Cy, friends: Cy, parent: Cy"],
                "the people after two deletions")
        }
    }

    /// A destination of a to-many relationship without an inverse has at most one owner, as in Apple's stores, where a
    /// column of its row refers to the owner.
    @Sendable private static func keepsOneWayRelationships(_ stack: StoreConformance) throws {
        try stack.inContext { context in
            for name in ["Ada", "Bo", "Cy"] { _ = context.make("Person", named: name) }
            for name in ["v", "w", "x", "y", "z"] { _ = context.make("Song", named: name) }
            let (people, songs) = (try context.named("Person"), try context.named("Song"))
            for name in ["Ada", "Cy"] { people[name]?.setValue(people["Bo"], forKey: "mentor") }
            people["Ada"]?.setValue(set("Ada", "Bo", of: people), forKey: "likes")
            people["Bo"]?.setValue(set("Cy", of: people), forKey: "likes")
            people["Ada"]?.setValue(list("z", "x", "y", of: songs), forKey: "queue")
            people["Bo"]?.setValue(list("w", "v", of: songs), forKey: "queue")
            try context.save()
        }
        try stack.inEachState { context in
            try expect(
                try context.ties(of: "Person"),
                [
                    "Ada": "likes: Ada Bo, mentor: Bo, queue: z x y", "Bo": "likes: Cy, queue: w v",
                    "Cy": "mentor: Bo",
                ], "what leads one way")
        }
        try stack.inContext { context in
            let (people, songs) = (try context.named("Person"), try context.named("Song"))
            let queue = try need(people["Ada"], "Ada").mutableOrderedSetValue(forKey: "queue")
            queue.moveObjects(at: IndexSet(integer: 2), to: 0)
            queue.remove(try need(songs["x"], "the song x"))
            people["Bo"]?.mutableOrderedSetValue(forKey: "queue").moveObjects(at: IndexSet(integer: 1), to: 0)
            people["Cy"]?.setValue(list("x", of: songs), forKey: "queue")
            people["Bo"]?.mutableSetValue(forKey: "likes").remove(try need(people["Cy"], "Cy"))
            people["Ada"]?.mutableSetValue(forKey: "likes").add(try need(people["Cy"], "Cy"))
            people["Ada"]?.mutableSetValue(forKey: "likes").remove(try need(people["Bo"], "Bo"))
            people["Cy"]?.setValue(nil, forKey: "mentor")
            people["Ada"]?.setValue(people["Cy"], forKey: "mentor")
            let touched = songs.values.filter(\.hasChanges).count
            try expect(touched, 0, "the songs that a one-way relationship changes")
            try context.save()
        }
        try stack.inEachState { context in
            try expect(
                try context.ties(of: "Person"),
                ["Ada": "likes: Ada Cy, mentor: Cy, queue: y z", "Bo": "queue: v w", "Cy": "queue: x"],
                "what leads one way after changes")
        }
    }

    @Sendable private static func keepsOrderedManyToMany(_ stack: StoreConformance) throws {
        try stack.inContext { context in
            for name in ["p", "q", "r"] { _ = context.make("Playlist", named: name) }
            for name in ["a", "b", "c", "d"] { _ = context.make("Song", named: name) }
            let (lists, songs) = (try context.named("Playlist"), try context.named("Song"))
            lists["p"]?.setValue(list("c", "a", "d", "b", of: songs), forKey: "songs")
            lists["q"]?.setValue(list("b", "c", of: songs), forKey: "songs")
            lists["p"]?.setValue(list("d", "a", of: songs), forKey: "guests")
            lists["q"]?.setValue(list("a", "b", "d", of: songs), forKey: "guests")
            songs["a"]?.setValue(list("r", "q", "p", of: lists), forKey: "visits")
            try context.save()
        }
        try stack.inEachState { context in
            try expect(
                try context.ties(of: "Playlist"),
                ["p": "guests: d a, songs: c a d b", "q": "guests: a b d, songs: b c", "r": "guests: a"], "the lists")
            try expect(
                try context.ties(of: "Song"),
                [
                    "a": "playlists: p, visits: r q p", "b": "playlists: p q, visits: q", "c": "playlists: p q",
                    "d": "playlists: p, visits: p q",
                ], "the songs")
        }
        try stack.inContext { context in
            let (lists, songs) = (try context.named("Playlist"), try context.named("Song"))
            let order = try need(lists["p"], "the list p").mutableOrderedSetValue(forKey: "songs")
            order.moveObjects(at: IndexSet([2, 3]), to: 0)
            order.remove(try need(songs["c"], "the song c"))
            lists["q"]?.mutableOrderedSetValue(forKey: "songs").insert(try need(songs["a"], "the song a"), at: 1)
            songs["d"]?.mutableSetValue(forKey: "playlists").add(try need(lists["r"], "the list r"))
            lists["q"]?.setValue(list("d", "b", of: songs), forKey: "guests")
            songs["d"]?.mutableOrderedSetValue(forKey: "visits").moveObjects(at: IndexSet(integer: 1), to: 0)
            try context.save()
        }
        try stack.inEachState { context in
            try expect(
                try context.ties(of: "Playlist"),
                ["p": "guests: d a, songs: d b a", "q": "guests: d b, songs: b a c", "r": "guests: a, songs: d"],
                "the lists after moves, insertions and removals")
            try expect(
                try context.ties(of: "Song"),
                [
                    "a": "playlists: p q, visits: r p", "b": "playlists: p q, visits: q", "c": "playlists: q",
                    "d": "playlists: p r, visits: q p",
                ], "the songs after them")
        }
        try stack.inContext { context in
            context.delete(try need(try context.named("Song")["b"], "the song b"))
            context.delete(try need(try context.named("Playlist")["r"], "the list r"))
            try context.save()
        }
        try stack.inEachState { context in
            try expect(
                try context.ties(of: "Playlist"),
                ["p": "guests: d a, songs: d a", "q": "guests: d, songs: a c"], "the lists after deletions")
        }
    }
}
