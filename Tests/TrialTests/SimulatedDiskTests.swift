import TestSupport
import Testing

/// What the program `DiskTrials` finds: stores after power failures and failed calls, and under a clock that is set. It is a program of its own because it has
/// its own `open` and `write`, under SQLite and under the framework.
///
/// `ROSTER_LONG_TESTS=n` tries n times as many, from another seed for each n.
@Suite(.needs(.process)) struct SimulatedDiskTests {
    private static let factor = TrialProgram.factor ?? 1

    /// The power fails at any moment, and what was not synced is there in part, torn, or in another order: what was said to be
    /// saved is there, or without `synchronous=FULL` the last transactions are missing whole. Files of external values are there
    /// for each row that names them.
    @Test(arguments: [("everything", 3, 100), ("pictures", 1, 40), ("journal", 1, 60)])
    func transactionsOutlastAPowerFailure(focus: String, seed: Int, count: Int) throws {
        try TrialProgram.run("DiskTrials", ["crash", "\(seed + Self.factor - 1)", "\(count * Self.factor)", focus])
    }

    /// Any call to the system or allocation fails, once or from then on: an error comes out, the store is as before or as after,
    /// and the same work is done when it is tried again.
    @Test func nothingIsLostByAFailedCall() throws {
        try TrialProgram.run("DiskTrials", ["fault", "\(Self.factor)", "\(20 * Self.factor)"])
    }

    /// The wall clock is set forwards and back between commits and under waits: followers lose and double nothing, dates are kept,
    /// and a wait takes the time that was asked for.
    @Test func aClockThatIsSetLosesNothing() throws {
        try TrialProgram.run("DiskTrials", ["clock", "\(Self.factor)", "\(100 * Self.factor)"])
    }
}
