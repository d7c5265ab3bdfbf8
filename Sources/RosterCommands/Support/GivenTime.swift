extension Duration {
    /// A number of seconds given by a user, from 0 to 1e9 (some thirty years), so that clocks can add it.
    static func given(seconds: Double) -> Duration { .seconds(seconds > 0 ? min(seconds, 1e9) : 0) }
}
