/// `NSPersistentCloudKitContainer` → `NSPersistentContainer`, which keeps the store and leaves out the cloud.
enum CloudContainerRule {
    static func apply(to work: inout PortingWork) {
        for index in work.live where work.isName(index) && work.source.isToken(index, "NSPersistentCloudKitContainer") {
            if work.source.isToken(index + 1, ".") {
                work.note(
                    at: index,
                    "a member of NSPersistentCloudKitContainer: put what needs it behind #if canImport(CloudKit)")
                continue
            }
            if isCheck(endingAt: index - 1, work.source) {
                work.note(
                    at: index,
                    "a check for NSPersistentCloudKitContainer: no container is one here, and every container is an NSPersistentContainer; put it behind #if canImport(CloudKit), or decide without it"
                )
                continue
            }
            work.note(
                at: index,
                "NSPersistentCloudKitContainer became NSPersistentContainer: nothing goes to iCloud from here",
                isLeft: false)
            work.replace(
                index, through: index, by: "NSPersistentContainer",
                otherwise: "NSPersistentCloudKitContainer: write NSPersistentContainer")
        }
    }

    /// True if `is`, `as` or `as?` ends there: with the renamed class each would always succeed.
    private static func isCheck(endingAt index: Int, _ source: SwiftSource) -> Bool {
        let word = source.isToken(index, "?") && source.touches(index - 1, index) ? index - 1 : index
        return source.isToken(word, "as") || source.isToken(index, "is")
    }
}
