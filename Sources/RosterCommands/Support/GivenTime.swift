extension Duration {
    /// So many seconds as a user gives them: a number of any size, of which what no clock can add counts as thirty years.
    ///
    /// - Parameter seconds: not NaN.
    static func given(seconds: Double) -> Duration { .seconds(max(0, min(seconds, 1e9))) }
}
