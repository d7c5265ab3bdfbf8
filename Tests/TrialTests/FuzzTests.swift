import TestSupport
import Testing

/// Runs the program `FuzzTrials`. Damaged input of each kind is read or refused with an error and never crashes the
/// program.
///
/// `ROSTER_LONG_TESTS=n` tries 10·n times as many inputs, with seed n.
@Suite(.needs(.process)) struct FuzzTests {
    @Test(arguments: [
        ("formats", 300), ("models", 100), ("compiled", 100), ("kept", 60), ("mappings", 300), ("archives", 300),
        ("caches", 30), ("records", 60), ("stores", 12), ("logs", 12), ("binaries", 30), ("documents", 30),
    ])
    func damagedInputIsReadOrRefused(kind: String, count: Int) throws {
        let tries = TrialProgram.factor.map { count * $0 * 10 } ?? count
        let output = try TrialProgram.run("FuzzTrials", [kind, "\(TrialProgram.factor ?? 7)", "\(tries)"])
        // Damage that is never refused would test nothing. The program itself checks that whole inputs are read.
        #expect(output.contains(/, [1-9]\d* refused/) || kind == "caches", "\(output)")
    }
}
