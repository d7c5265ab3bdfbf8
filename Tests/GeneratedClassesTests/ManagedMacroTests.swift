import CoreData
import Observation
import Testing

/// Hand-written classes in Xcode's style, with `@Managed` instead of `@NSManaged`.
@MainActor @Suite struct ManagedMacroTests {
    private func members(_ count: Int, _ context: NSManagedObjectContext) -> [Member] {
        (0..<count).map { number in
            let member = Member(context: context)
            member.name = "M\(number)"
            member.number = Int16(number)
            return member
        }
    }

    private func names(_ members: NSOrderedSet?) -> String {
        (members?.array as? [Member] ?? []).map { $0.name ?? "" }.joined(separator: " ")
    }

    @Test func propertiesOfEveryKindBeginUnset() throws {
        let squad = Squad(context: try Stack("League").context)
        #expect(squad.address == nil && squad.badge == nil && squad.budget == nil && squad.colors == nil)
        #expect(squad.draws == nil && squad.extra == nil && squad.mood == nil && squad.name == nil && squad.site == nil)
        #expect(!squad.active && !squad.default && squad.fee == 0 && squad.flags == [] && squad.opening == 0)
        #expect(squad.points == 0 && squad.ratio == 0 && squad.share == 0 && squad.wins == 0 && squad.x == 0)
        #expect(squad.kind == .professional && squad.stage == .group)
        #expect(squad.captain == nil && squad.coach == nil && squad.players?.count == 0 && squad.ranking?.count == 0)
        #expect(squad.rivals.isEmpty && squad._name == "own")
        #expect(squad.founded == Date(timeIntervalSinceReferenceDate: 1))
    }

    @Test func propertiesOfEveryKindAreKept() throws {
        let stack = try Stack("League")
        let squad = Squad(context: stack.context)
        let other = Squad(context: stack.context)
        let players = members(3, stack.context)
        squad.active = true
        squad.address = ["city": "Recife", "zip": 50000]
        squad.badge = Data([1, 2])
        squad.budget = NSDecimalNumber(string: "12.5")
        squad.colors = ["red", "black"]
        squad.default = true
        squad.draws = 4
        squad.extra = "anything"
        squad.fee = Decimal(string: "0.1") ?? 0
        squad.flags = [.promoted, .broke]
        squad.kind = .youth
        squad.mood = .furious
        squad.name = "Náutico"
        squad.opening = 60
        squad.points = 1 << 40
        squad.ratio = 0.25
        squad.share = 0.5
        squad.site = URL(string: "https://example.org/n")
        squad.stage = .final
        squad.setValue(UUID(uuidString: "00000000-0000-0000-0000-00000000000C"), forKey: "token")
        squad.wins = 7
        squad.x = -1
        squad.captain = players[0]
        squad.coach = Trainer(context: stack.context)
        squad.players = NSSet(array: players)
        squad.ranking = NSOrderedSet(array: players.reversed())
        squad.rivals = [other]
        try stack.reopened { context in
            let request = Squad.fetchRequest()
            request.predicate = NSPredicate(format: "name == %@ AND kind == 1 AND mood == 'furious'", "Náutico")
            let squad = try #require(try context.fetch(request).first)
            #expect(squad.active && squad.default && squad.points == 1 << 40 && squad.ratio == 0.25)
            #expect(squad.address?["city"] as? String == "Recife" && squad.address?["zip"] as? Int == 50000)
            #expect(squad.badge == Data([1, 2]) && squad.budget == 12.5 && squad.colors == ["red", "black"])
            #expect(squad.draws == 4 && squad.extra as? String == "anything" && squad.fee == Decimal(string: "0.1"))
            #expect(squad.flags.contains(.broke) && squad.kind == .youth && squad.mood == .furious)
            #expect(squad.stage == .final && squad.opening == 60 && squad.share == 0.5 && squad.site?.path == "/n")
            #expect((squad.value(forKey: "token") as? UUID)?.uuidString.hasSuffix("C") == true)
            #expect(squad.wins == 7 && squad.x == -1 && squad.captain?.number == 0 && squad.coach?.squad === squad)
            #expect(squad.players?.count == 3 && names(squad.ranking) == "M2 M1 M0")
            #expect(squad.rivals.count == 1 && squad.rivals.first?.rivals == [squad])
            squad.mood = nil
            squad.captain = nil
            squad.extra = nil
            #expect(squad.value(forKey: "mood") == nil && squad.captain == nil && squad.extra == nil)
            squad.setValue("unheard of", forKey: "mood")
            #expect(squad.mood == nil)
        }
    }

    @Test func methodsOfASetChangeBothEnds() throws {
        let context = try Stack("League").context
        let squad = Squad(context: context)
        let members = members(4, context)
        squad.addToPlayers(members[0])
        squad.addToPlayers(NSSet(array: [members[1], members[2]]))
        #expect(squad.players?.count == 3 && members[1].squad === squad && members[3].squad == nil)
        squad.removeFromPlayers(members[0])
        squad.removeFromPlayers(NSSet(array: [members[2], members[3]]))
        #expect(squad.players == NSSet(array: [members[1]]) && members[0].squad == nil)
        let others = (0..<3).map { _ in Squad(context: context) }
        squad.addToRivals([others[0], others[1]])
        squad.addRivalsObject(others[2])
        #expect(squad.rivals == Set(others) && others[2].rivals == [squad])
        squad.removeRivals([others[0], others[2]])
        #expect(squad.rivals == [others[1]] && others[0].rivals.isEmpty)
    }

    @Test func methodsOfAnOrderedSetKeepItsOrder() throws {
        let context = try Stack("League").context
        let squad = Squad(context: context)
        let members = members(6, context)
        squad.addToRanking(members[0])
        squad.addToRanking(NSOrderedSet(array: [members[1], members[2]]))
        squad.insertIntoRanking(members[3], at: 1)
        #expect(names(squad.ranking) == "M0 M3 M1 M2" && members[3].rankedIn === squad)
        squad.insertIntoRanking([members[4], members[5]], at: NSIndexSet(indexSet: [0, 2]))
        #expect(names(squad.ranking) == "M4 M0 M5 M3 M1 M2")
        squad.removeFromRanking(at: 1)
        squad.removeFromRanking(at: NSIndexSet(indexSet: [0, 1]))
        #expect(names(squad.ranking) == "M3 M1 M2" && members[4].rankedIn == nil)
        squad.replaceRanking(at: 1, with: members[5])
        squad.replaceRanking(at: NSIndexSet(indexSet: [0, 2]), with: [members[0], members[4]])
        #expect(names(squad.ranking) == "M0 M5 M4" && members[1].rankedIn == nil && members[4].rankedIn === squad)
        squad.removeFromRanking(members[5])
        squad.removeFromRanking(NSOrderedSet(array: [members[4]]))
        #expect(names(squad.ranking) == "M0")
    }

    @Test func primitiveValuesBypassAccessors() throws {
        let stack = try Stack("League")
        let context = stack.context
        let squad = Squad(context: context)
        squad.name = "Santa"
        squad.wins = 3
        squad.players = NSSet(array: members(2, context))
        try context.save()
        #expect(squad.primitiveName == "Santa" && squad.primitiveWins == 3 && squad.primitiveKind == .professional)
        #expect(squad.primitiveMood == nil && squad.primitiveColorCount == 0 && squad.primitivePlayers.count == 2)
        squad.primitiveWins = 4
        squad.primitiveMood = .calm
        squad.primitiveKind = .amateur
        #expect(!squad.hasChanges && squad.wins == 4 && squad.mood == .calm && squad.kind == .amateur)
        context.refresh(squad, mergeChanges: false)
        // Reading a primitive value fires no fault; an unread value is nil.
        #expect(squad.primitiveName == nil && squad.isFault)
        #expect(squad.shoutedName == "SANTA" && !squad.isFault)
        squad.shoutedName = "CRUZ"
        #expect(squad.name == "cruz" && squad.hasChanges && squad.changedValues().keys.sorted() == ["name"])
        let third = Member(context: context)
        squad.primitivePlayers.add(third)
        #expect(squad.players?.contains(third) == true)
    }

    @Test func keyPathsOfManagedPropertiesHaveKeys() throws {
        // A stack that is open makes the entities of its model known.
        let stack = try Stack("League")
        defer { withExtendedLifetime(stack) {} }
        #expect(NSSortDescriptor(keyPath: \Squad.name, ascending: true).key == "name")
        #expect(NSSortDescriptor(keyPath: \Squad.wins, ascending: true).key == "wins")
        #expect(NSSortDescriptor(keyPath: \Member.squad?.name, ascending: true).key == "squad.name")
        #expect(NSExpression(forKeyPath: \Squad.coach).keyPath == "coach")
        #expect(NSExpression(forKeyPath: \Squad.kind).keyPath == "kind")
        #expect(NSExpression(forKeyPath: \Squad.stage).keyPath == "stage")
        #expect(NSExpression(forKeyPath: \Squad.mood).keyPath == "mood")
        #expect(NSExpression(forKeyPath: \Member.squad?.stage).keyPath == "squad.stage")
    }

    // MARK: Agreement with generated classes

    /// The same property of a hand-written class or of a generated one.
    @MainActor private struct Side {
        let object: NSManagedObject
        let name: ReferenceAccess<String?>
        let wins: ReferenceAccess<Int32>
        let add: (Member) -> Void
        let players: () -> NSSet?
    }

    private struct ReferenceAccess<Value> {
        let get: () -> Value
        let set: (Value) -> Void
    }

    private func written(_ squad: Squad) -> Side {
        Side(
            object: squad, name: .init(get: { squad.name }, set: { squad.name = $0 }),
            wins: .init(get: { squad.wins }, set: { squad.wins = $0 }), add: { squad.addToPlayers($0) },
            players: { squad.players })
    }

    private func generated(_ twin: SquadTwin) -> Side {
        Side(
            object: twin, name: .init(get: { twin.name }, set: { twin.name = $0 }),
            wins: .init(get: { twin.wins }, set: { twin.wins = $0 }), add: { twin.addToPlayers($0) },
            players: { twin.players })
    }

    /// Values that a program observes while it uses the object.
    private func transcript(_ side: Side, _ context: NSManagedObjectContext) throws -> [String] {
        var lines: [String] = []
        let object = side.object
        func note(_ step: String) {
            let byName = [object.value(forKey: "name") as? String ?? "-", "\(object.value(forKey: "wins") ?? "-")"]
            // One of the classes sets it on insertion.
            let changed = object.changedValues().keys.filter { $0 != "founded" }.sorted()
            lines.append(
                "\(step): \(side.name.get() ?? "-") \(side.wins.get()) \(side.players()?.count ?? -1) \(byName) "
                    + "\(object.isFault) \(object.hasChanges) \(changed)")
        }
        nonisolated(unsafe) var told = 0
        func observed(_ change: () throws -> Void) rethrows {
            withObservationTracking {
                _ = (side.name.get(), side.wins.get(), side.players())
            } onChange: {
                told += 1
            }
            try change()
            lines.append("told \(told)")
        }
        note("new")
        observed { side.name.set("a") }
        try context.save()
        note("saved")
        observed { side.wins.set(5) }
        note("set")
        context.processPendingChanges()
        observed { context.undo() }
        note("undone")
        observed { context.redo() }
        note("redone")
        observed { side.add(Member(context: context)) }
        note("added")
        try context.save()
        context.refresh(object, mergeChanges: false)
        lines.append("fault \(object.isFault)")
        lines.append("wins \(side.wins.get()) fault \(object.isFault)")
        observed { object.setValue("by name", forKey: "name") }
        note("set by name")
        observed { context.rollback() }
        note("rolled back")
        side.name.set(nil)
        note("set to nothing")
        context.delete(object)
        try context.save()
        return lines
    }

    @Test func managedPropertiesEqualGeneratedAccessors() throws {
        let stack = try Stack("League")
        let context = stack.context
        context.undoManager = UndoManager()
        let squad = Squad(context: context)
        let hand = try transcript(written(squad), context)
        let twin = SquadTwin(context: context)
        let plugin = try transcript(generated(twin), context)
        #expect(hand == plugin)
        #expect(hand.contains("told 7"))
    }
}
