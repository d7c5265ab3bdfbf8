extension Duration {
    /// So many seconds as a user gives them: a number of any size, of which what no clock can add counts as thirty years.
    static func given(seconds: Double) -> Duration { .seconds(seconds > 0 ? min(seconds, 1e9) : 0) }
}
