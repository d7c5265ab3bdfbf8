/// The version of the program and of the framework in it.
nonisolated enum Version {
    static let text = "0.9.0"
}
