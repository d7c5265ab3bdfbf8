/// Objects that wait for permanent IDs, with facts about all of them. Found in one pass over the objects: memory that
/// was not used for a while is not in the cache, and a save may have a hundred thousand objects.
struct PendingIDAssignment {
    let objects: [NSManagedObject]
    /// The runs of objects of one entity.
    let runs: [EntityRun]
    /// True if some were assigned to a store.
    let areSomeAssigned: Bool

    /// Selects the `objects` that belong to the context and have temporary IDs.
    // SAFETY: addresses of the context's handle and of layouts are compared; a layout is used while `objects` hold it.
    init(among objects: [NSManagedObject], of context: NSManagedObjectContext) {
        let reference = context.homes.context
        var waiting = objects
        var survey = Survey()
        if objects.containsHeld(where: { !survey.note($0, reference) }) {
            waiting = objects.filter { Survey.isWaiting($0, reference) }
            survey = Survey()
            waiting.forEachHeld { _ = survey.note($0, reference) }
        }
        survey.endRun()
        self.objects = waiting
        runs = survey.runs
        areSomeAssigned = survey.areSomeAssigned
    }

    // SAFETY: see `init`.
    private struct Survey {
        private(set) var runs: [EntityRun] = []
        private(set) var areSomeAssigned = false
        private var layout: Unretained<EntityLayout>?
        private var count = 0

        static func isWaiting(_ object: NSManagedObject, _ context: Unretained<ContextHandle>) -> Bool {
            object.isRegistered(in: context) && object.hasTemporaryID
        }

        /// Adds an object to the current run if it waits for an ID.
        ///
        /// - Returns: true if the object waits for an ID.
        mutating func note(_ object: NSManagedObject, _ context: Unretained<ContextHandle>) -> Bool {
            guard Self.isWaiting(object, context) else { return false }
            if object.hasStore { areSomeAssigned = true }
            let own = object.withLayout { Unretained($0) }
            if own != layout {
                endRun()
                layout = own
            }
            count += 1
            return true
        }

        mutating func endRun() {
            guard let layout, count > 0 else { return }
            runs.append(EntityRun(entity: layout.with(\.entity), count: count))
            count = 0
        }
    }
}
