/// Version of the program and of its framework.
nonisolated enum Version {
    static let text = "0.9.0"
}
