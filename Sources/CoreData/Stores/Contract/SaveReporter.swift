/// How far a save has come: what ``NSManagedObjectContext/save(reporting:)`` tells of.
public struct SaveProgress: Sendable {
    /// The share of the work that is done, from 0 to 1.
    public let fraction: Double
    /// Whether an error that is thrown now stops the save, with nothing written. Not once the store begins to commit.
    public let canStop: Bool
}

/// Tells now and then how far a save has come, from within the save.
final class SaveReporter {
    /// The stages of a save, in their order.
    enum Stage {
        case checking, planning, writing, settling

        /// The approximate share of the whole work of each stage.
        fileprivate var part: ClosedRange<Double> {
            switch self {
            case .checking: 0...0.2
            case .planning: 0.2...0.35
            case .writing: 0.35...0.85
            case .settling: 0.85...1
            }
        }
    }

    /// What hears of the progress stops the save by an error, which no part of the save takes for one of its own.
    struct Stop: Error { let error: any Error }

    /// The number of steps between two looks at the clock.
    private static let unwatched = 64
    private static let interval = Duration.milliseconds(15)

    private let report: (SaveProgress) throws -> Void
    /// The store that has a transaction open while it tells.
    var writing: (any StagedSaving)?
    private var stage = Stage.checking
    private var steps = 0
    private var done = 0
    private var sinceLook = 0
    private var next = ContinuousClock.now
    private var canStop = true

    init(_ report: @escaping (SaveProgress) throws -> Void) { self.report = report }

    /// Begins a stage. A stage may begin more than once.
    ///
    /// - Parameter steps: how many steps the stage has.
    func begin(_ stage: Stage, steps: Int) {
        (self.stage, self.steps, done, sinceLook) = (stage, steps, 0, 0)
        canStop = stage != .settling
        next = .now
    }

    /// Notes that so many steps of the stage were made.
    ///
    /// - Throws: what hears of the progress throws, as long as that can stop the save.
    @inline(__always)
    func step(_ count: Int = 1) throws {
        done += count
        sinceLook += count
        if sinceLook >= Self.unwatched { try look() }
    }

    /// Notes a step of what nothing stops any more.
    @inline(__always)
    func stepOn() { try? step() }

    /// The store has done its work and commits: the last moment at which the save can be stopped.
    func willCommit() throws {
        try tell()
        canStop = false
        try tell()
    }

    private func look() throws {
        sinceLook = 0
        if ContinuousClock.now >= next { try tell() }
    }

    private func tell() throws {
        defer { next = .now + Self.interval }
        let part = stage.part
        let share = steps > 0 ? min(1, Double(done) / Double(steps)) : 1
        let fraction = part.lowerBound + share * (part.upperBound - part.lowerBound)
        writing?.pauseStaging(true)
        defer { writing?.pauseStaging(false) }
        do { try report(SaveProgress(fraction: fraction, canStop: canStop)) } catch {
            if canStop { throw Stop(error: error) }
        }
    }
}
