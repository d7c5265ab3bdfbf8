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
            work.note(
                at: index,
                "NSPersistentCloudKitContainer became NSPersistentContainer: nothing goes to iCloud from here")
            work.replace(
                index, through: index, by: "NSPersistentContainer",
                otherwise: "NSPersistentCloudKitContainer: write NSPersistentContainer")
        }
    }
}
