/// Format of a printed model.
public enum ModelFormat: String, CaseIterable, Sendable {
    /// For people: the entities with their properties.
    case text
    /// For programs: one JSON object per line, for each entity, configuration and fetch request.
    case json
    /// A source model that Xcode opens.
    case xcdatamodel
    /// A diagram for Graphviz.
    case dot
    /// A diagram for Mermaid.
    case mermaid
}
