/// The version of the program and of the framework in it.
enum Version {
    static let text = "0.9.0"
}
