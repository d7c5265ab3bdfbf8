import TestSupport
import Testing

/// Runs the program `DiskTrials`: stores after power failures and failed calls, and with a clock that jumps. It is a
/// separate program because it replaces `open` and `write`, for SQLite and for the framework.
///
/// `ROSTER_LONG_TESTS=n` tries n times as many cases, with a different seed for each n.
@Suite(.needs(.process)) struct SimulatedDiskTests {
    private static let factor = TrialProgram.factor ?? 1

    /// The power fails at any moment. Data that was not synced is missing, torn or in another order. Every completed
    /// commit survives; without `synchronous=FULL` the last transactions may be missing as a whole. Each external value
    /// that a row names has its file.
    @Test(arguments: [("everything", 3, 100), ("pictures", 1, 40), ("journal", 1, 60)])
    func commitsSurvivePowerFailures(focus: String, seed: Int, count: Int) throws {
        try TrialProgram.run("DiskTrials", ["crash", "\(seed + Self.factor - 1)", "\(count * Self.factor)", focus])
    }

    /// Any system call or allocation fails, once or from then on. The framework reports an error, the store has its
    /// contents from before or after the work, and repeating the work succeeds.
    @Test func failedCallsLoseNothing() throws {
        try TrialProgram.run("DiskTrials", ["fault", "\(Self.factor)", "\(20 * Self.factor)"])
    }

    /// The wall clock jumps between commits and during waits. Followers miss and repeat nothing, dates keep their
    /// values, and a wait takes the requested time.
    @Test func clockChangesLoseNothing() throws {
        try TrialProgram.run("DiskTrials", ["clock", "\(Self.factor)", "\(100 * Self.factor)"])
    }
}
