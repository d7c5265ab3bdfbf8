/// Keys of our own in archives, for what stands in Apple's in a place that is not known. Apple's framework passes them over;
/// each stands there only where the value is not the usual one.
enum OwnKeys {
    static let isIndexedBySpotlight = "RosterIsIndexedBySpotlight"
    static let isStoredInExternalRecord = "RosterIsStoredInExternalRecord"
    static let excludesSubentities = "RosterExcludesSubentities"
    static let excludesPropertyValues = "RosterExcludesPropertyValues"
    static let excludesPendingChanges = "RosterExcludesPendingChanges"
    static let returnsNoFaults = "RosterReturnsNoFaults"
    static let returnsDistinctResults = "RosterReturnsDistinctResults"
}
