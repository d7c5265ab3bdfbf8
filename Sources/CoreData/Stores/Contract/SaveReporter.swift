/// The progress of a save, as ``NSManagedObjectContext/save(reporting:)`` reports it.
public struct SaveProgress: Sendable {
    /// The finished share of the work, from 0 to 1.
    public let fraction: Double
    /// True if an error thrown now stops the save with nothing written; false once the store begins to commit.
    public let canStop: Bool
}

/// Reports the progress of a save from time to time, during the save.
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

    /// Wraps the error by which the handler stops the save, so that no part of the save handles it as its own.
    struct Stop: Error { let error: any Error }

    /// The number of steps between two reads of the clock.
    private static let unwatched = 64
    private static let interval = Duration.milliseconds(15)

    private let report: (SaveProgress) throws -> Void
    /// The store whose transaction is open during the report.
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
    /// - Parameter steps: the number of steps of the stage.
    func begin(_ stage: Stage, steps: Int) {
        (self.stage, self.steps, done, sinceLook) = (stage, steps, 0, 0)
        canStop = stage != .settling
        next = .now
    }

    /// Counts steps of the stage.
    ///
    /// - Throws: the handler's error, if the save can still be stopped.
    @inline(__always)
    func step(_ count: Int = 1) throws {
        done += count
        sinceLook += count
        if sinceLook >= Self.unwatched { try look() }
    }

    /// Counts a step that can no longer be stopped.
    @inline(__always)
    func stepOn() { try? step() }

    /// Called when the store is about to commit: the last moment at which the save can be stopped.
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
