/// Modules of Apple's systems that roster's package `Shims` has.
enum ShimModule {
    static let names: Set<String> = ["Combine", "os", "OSLog"]
    /// Name of the package in manifests.
    static let package = "roster-shims"
    /// Its folder in the folder of roster.
    static let folder = "Shims"
    /// Names of Combine that SwiftUI also brings.
    static let namesInSwiftUI: Set<String> = [
        "ObservableObject", "AnyCancellable", "AnyPublisher", "PassthroughSubject", "CurrentValueSubject",
    ]
}
