/// The names of types of the standard library and the frameworks, for a module with its own classes.
///
/// If an entity has a name such as `Set` or `Notification`, the other type is qualified with its module.
struct TypeNames {
    private let ownClasses: Set<String>

    init(ownClasses: Set<String>) { self.ownClasses = ownClasses }

    func swift(_ name: String) -> String { qualified(name, "Swift") }
    func foundation(_ name: String) -> String { qualified(name, "Foundation") }
    func coreData(_ name: String) -> String { qualified(name, "CoreData") }

    private func qualified(_ name: String, _ module: String) -> String {
        ownClasses.contains(name) ? "\(module).\(name)" : name
    }
}
