import Foundation

@testable import CoreData

/// A model with every kind of relationship and rule, and stacks with it on SQLite files.
///
/// `Person` (abstract) ← `Player`, `Coach`; `Team`; `Venue`; `Fan`; `Skill`; `Note`.
enum Club {
    static let model: NSManagedObjectModel = makeModel()

    private static func makeModel() -> NSManagedObjectModel {
        let person = entity("Person", [attribute("name", .stringAttributeType, optional: false)])
        person.isAbstract = true
        let player = entity(
            "Player",
            [
                attribute("number", .integer32AttributeType, 0), attribute("captaincy", .stringAttributeType),
                attribute("joined", .dateAttributeType),
            ])
        let coach = entity("Coach", [attribute("salary", .decimalAttributeType)])
        let team = entity("Team", teamAttributes(), className: "ClubTeam")
        let venue = entity("Venue", [attribute("name", .stringAttributeType), capacity()])
        let fan = entity("Fan", [attribute("name", .stringAttributeType)])
        let skill = entity("Skill", [attribute("name", .stringAttributeType)])
        let note = entity("Note", [attribute("text", .stringAttributeType)])

        relate(team, "players", many: true, .cascadeDeleteRule, player, "team", many: false)
        relate(team, "captain", many: false, .nullifyDeleteRule, player, "captainOf", many: false)
        relate(team, "coach", many: false, .denyDeleteRule, coach, "team", many: false)
        relate(team, "venue", many: false, .nullifyDeleteRule, venue, "teams", many: true)
        relate(team, "fans", many: true, .nullifyDeleteRule, fan, "team", many: false).isOrdered = true
        relate(player, "skills", many: true, .nullifyDeleteRule, skill, "players", many: true)
        let about = relationship("about", many: false, .noActionDeleteRule, team)
        note.properties += [about]

        person.subentities = [player, coach]
        let model = NSManagedObjectModel()
        model.entities = [person, team, venue, fan, skill, note]
        return model
    }

    private static func teamAttributes() -> [NSAttributeDescription] {
        let name = attribute("name", .stringAttributeType, optional: false)
        name.validation = PropertyValidation(rules: [.minimumLength(2), .maximumLength(20)])
        let wins = attribute("wins", .integer16AttributeType, 0)
        wins.validation = PropertyValidation(
            rules: [.minimum(.integer(0), code: 1620), .maximum(.integer(100), code: 1610)])
        let code = attribute("code", .stringAttributeType)
        code.validation = PropertyValidation(rules: [.pattern("[A-Z]{3}")])
        let founded = attribute("founded", .dateAttributeType)
        founded.validation = PropertyValidation(
            rules: [.minimum(.real(0), code: 1640), .maximum(.real(1000), code: 1630)])
        let scratch = attribute("scratch", .integer32AttributeType)
        scratch.isTransient = true
        return [
            name, wins, code, founded, scratch, attribute("favorite", .booleanAttributeType, false),
            attribute("rating", .doubleAttributeType), attribute("badge", .binaryDataAttributeType),
            attribute("uuid", .UUIDAttributeType), attribute("site", .URIAttributeType),
            attribute("budget", .decimalAttributeType), attribute("extra", .transformableAttributeType),
        ]
    }

    private static func capacity() -> NSAttributeDescription {
        let capacity = attribute("capacity", .integer32AttributeType, 0)
        return capacity
    }

    static func entity(
        _ name: String, _ properties: [NSPropertyDescription], className: String = "NSManagedObject"
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.managedObjectClassName = className
        entity.properties = properties
        return entity
    }

    static func attribute(
        _ name: String, _ type: NSAttributeType, _ value: Any? = nil, optional: Bool = true
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.defaultValue = value
        attribute.isOptional = optional
        return attribute
    }

    static func relationship(
        _ name: String, many: Bool, _ rule: NSDeleteRule, _ destination: NSEntityDescription
    ) -> NSRelationshipDescription {
        let relationship = NSRelationshipDescription()
        relationship.name = name
        relationship.maxCount = many ? 0 : 1
        relationship.deleteRule = rule
        relationship.destinationEntity = destination
        return relationship
    }

    /// Two relationships that are inverses of each other; the second one nullifies.
    @discardableResult
    static func relate(
        _ owner: NSEntityDescription, _ name: String, many: Bool, _ rule: NSDeleteRule, _ other: NSEntityDescription,
        _ back: String, many backMany: Bool
    ) -> NSRelationshipDescription {
        let there = relationship(name, many: many, rule, other)
        let here = relationship(back, many: backMany, .nullifyDeleteRule, owner)
        there.inverseRelationship = here
        here.inverseRelationship = there
        owner.properties += [there]
        other.properties += [here]
        return there
    }
}

/// A coordinator with one SQLite file, which is removed with it.
final class ClubStack {
    let coordinator: NSPersistentStoreCoordinator
    let folder: URL
    var storeURL: URL { folder.appendingPathComponent("club.sqlite") }

    /// - Parameter url: location of the store; `nil` for a file in a temporary folder.
    init(model: NSManagedObjectModel = Club.model, type: String = NSSQLiteStoreType, url: URL? = nil) throws {
        _ = ClubTeam.self
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("club-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: type, configurationName: nil, at: url ?? folder.appendingPathComponent("club.sqlite"))
        ManagedObjectClasses.register(ClubTeam.self, for: model.entitiesByName["Team"] ?? NSEntityDescription())
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func context(_ type: NSManagedObjectContextConcurrencyType = .privateQueueConcurrencyType) -> NSManagedObjectContext
    {
        let context = NSManagedObjectContext(concurrencyType: type)
        context.persistentStoreCoordinator = coordinator
        // Keeps the store's folder as long as the context.
        context.userInfo["stack"] = self
        return context
    }

    /// A team with one player, saved in another context.
    func savedTeam(of player: String) throws -> NSManagedObjectID {
        try context().use { context in
            let team = context.team()
            _ = context.make("Player", ["name": player, "team": team])
            try context.save()
            return team.objectID
        }
    }
}

/// A team that records calls of its hooks.
final class ClubTeam: NSManagedObject {
    @Managed var name: String
    @Managed var wins: Int16
    @Managed var founded: Date?
    @Managed var favorite: Bool
    @Managed var rating: Double
    @Managed var budget: NSDecimalNumber?
    @Managed var captain: NSManagedObject?
    @Managed var players: Set<NSManagedObject>
    @Managed var fans: NSOrderedSet?
    @Managed var scratch: Int32

    /// Calls since the last access; `nil` to record nothing.
    var log: [String]?
    var onWillSave: ((ClubTeam) -> Void)?
    var onDidSave: ((ClubTeam) -> Void)?
    var onPrepareForDeletion: ((ClubTeam) -> Void)?
    /// Called before and after the values are removed.
    var onTurnIntoFault: ((ClubTeam) -> Void)?
    var onValidate: ((ClubTeam) throws -> Void)?
    var startsWithRating: Double?

    private func note(_ call: String) { log?.append(call) }

    override func awakeFromInsert() {
        super.awakeFromInsert()
        setPrimitiveValue(0.5, forKey: "rating")
        note("awakeFromInsert")
    }
    override func awakeFromFetch() {
        super.awakeFromFetch()
        setPrimitiveValue(42, forKey: "scratch")
        note("awakeFromFetch")
    }
    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) { note("awake \(flags.rawValue)") }
    override func prepareForDeletion() {
        note("prepareForDeletion")
        onPrepareForDeletion?(self)
    }
    override func willSave() {
        note("willSave")
        onWillSave?(self)
    }
    override func didSave() {
        note("didSave")
        onDidSave?(self)
    }
    override func willTurnIntoFault() {
        note("willTurnIntoFault")
        onTurnIntoFault?(self)
    }
    override func didTurnIntoFault() {
        note("didTurnIntoFault")
        onTurnIntoFault?(self)
    }
    override func validateForInsert() throws {
        note("validateForInsert")
        try super.validateForInsert()
        try onValidate?(self)
    }
    override func validateForUpdate() throws {
        note("validateForUpdate")
        try super.validateForUpdate()
    }
    override func validateForDelete() throws {
        note("validateForDelete")
        try super.validateForDelete()
    }
}

extension NSManagedObjectContext {
    func make(_ entity: String, _ values: [String: Any] = [:]) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: self)
        for (key, value) in values { object.setValue(value, forKey: key) }
        return object
    }

    func team(_ name: String = "Rovers") -> ClubTeam {
        let team = ClubTeam(context: self)
        team.name = name
        return team
    }

    /// The object of the same row in this context.
    func twin<Object: NSManagedObject>(of object: Object) throws -> Object {
        let found = try existingObject(with: object.objectID)
        guard let twin = found as? Object else { throw CocoaError(.coreData) }
        return twin
    }
}

extension NSManagedObject {
    func objects(_ key: String) -> Set<NSManagedObject> { value(forKey: key) as? Set<NSManagedObject> ?? [] }
    func object(_ key: String) -> NSManagedObject? { value(forKey: key) as? NSManagedObject }
    func names(_ key: String) -> [String] {
        let members = (value(forKey: key) as? NSOrderedSet)?.array ?? objects(key).map { $0 }
        let names = members.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String }
        return value(forKey: key) is NSOrderedSet ? names : names.sorted()
    }
}

/// The notifications of a context, in order.
final class Notices: @unchecked Sendable {
    private(set) var all: [Notification] = []
    private var tokens: [any NSObjectProtocol] = []

    init(_ context: NSManagedObjectContext, _ names: [Notification.Name] = [.NSManagedObjectContextObjectsDidChange]) {
        for name in names {
            tokens.append(
                NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [weak self] in
                    self?.all.append($0)
                })
        }
    }

    deinit { for token in tokens { NotificationCenter.default.removeObserver(token) } }

    func take() -> [Notification] {
        defer { all = [] }
        return all
    }
}

extension Notification {
    func objects(_ key: String) -> Set<NSManagedObject> { userInfo?[key] as? Set<NSManagedObject> ?? [] }
}

/// Runs a block on the context's queue for each notification.
final class Observer: @unchecked Sendable {
    private let react: (Notification) -> Void
    private var token: (any NSObjectProtocol)?

    init(_ context: NSManagedObjectContext, _ name: Notification.Name, _ react: @escaping (Notification) -> Void) {
        self.react = react
        token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { [weak self] in
            self?.react($0)
        }
    }

    func stop() { if let token { NotificationCenter.default.removeObserver(token) } }
}
