/// Keys of our own in archives, for values whose place in Apple's archives is not known. Apple's framework passes them
/// over, but for the expressions; each stands there only where the value is not the usual one.
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
    /// A class for expressions of which no archive of Apple's was found (subqueries, indexes, `TERNARY`, set algebra), and
    /// its only key: their text. Apple's framework cannot read a model with one.
    static let textExpression = "RosterTextExpression"
    static let expressionText = "RosterFormat"
}
