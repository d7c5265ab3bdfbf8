/// Our own keys in archives, for values whose place in Apple's archives is unknown. Apple's framework ignores them,
/// except the expressions; each is written only if the value differs from the default.
enum OwnKeys {
    /// The elements of composite attributes in archives of earlier versions, which did not know Apple's key. Only read.
    static let elements = "NSElements"
    static let isIndexedBySpotlight = "RosterIsIndexedBySpotlight"
    static let isStoredInExternalRecord = "RosterIsStoredInExternalRecord"
    static let excludesSubentities = "RosterExcludesSubentities"
    static let excludesPropertyValues = "RosterExcludesPropertyValues"
    static let excludesPendingChanges = "RosterExcludesPendingChanges"
    static let returnsNoFaults = "RosterReturnsNoFaults"
    static let returnsDistinctResults = "RosterReturnsDistinctResults"
    /// A class for expressions that no known archive of Apple's has (subqueries, indexes, `TERNARY`, set algebra), and
    /// its only key: their text. Apple's framework cannot read a model with one.
    static let textExpression = "RosterTextExpression"
    static let expressionText = "RosterFormat"
}
