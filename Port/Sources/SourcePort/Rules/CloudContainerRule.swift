/// `NSPersistentCloudKitContainer` → `NSPersistentContainer`: the same store without iCloud.
enum CloudContainerRule {
    static func apply(to work: inout PortingWork) {
        for index in work.live where work.isName(index) && work.source.isToken(index, "NSPersistentCloudKitContainer") {
            if work.source.isToken(index + 1, ".") {
                work.note(
                    at: index,
                    "member of NSPersistentCloudKitContainer: put the code that needs it inside #if canImport(CloudKit)"
                )
                continue
            }
            if isCast(endingAt: index - 1, work.source) {
                work.note(
                    at: index,
                    "check for NSPersistentCloudKitContainer: this class is not available, and every container is an NSPersistentContainer. Put the check inside #if canImport(CloudKit), or remove it"
                )
                continue
            }
            let isCheck = work.source.isToken(index - 1, "is")
            work.note(
                at: index,
                isCheck
                    ? "is NSPersistentCloudKitContainer became is NSPersistentContainer, which is always true. Put it inside #if canImport(CloudKit) if it must fail for other containers"
                    : "NSPersistentCloudKitContainer became NSPersistentContainer: data is not synchronised with iCloud",
                isLeft: isCheck)
            work.replace(
                index, through: index, by: "NSPersistentContainer",
                otherwise: "NSPersistentCloudKitContainer: write NSPersistentContainer")
        }
    }

    /// True if the token ends `as` or `as?`. A cast to the renamed class would always succeed, but the code after it
    /// needs iCloud.
    private static func isCast(endingAt index: Int, _ source: SwiftSource) -> Bool {
        source.isToken(source.isToken(index, "?") && source.touches(index - 1, index) ? index - 1 : index, "as")
    }
}
