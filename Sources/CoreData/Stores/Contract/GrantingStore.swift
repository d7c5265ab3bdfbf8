/// A store whose server has roles.
package protocol GrantingStore: AnyObject {
    /// Called under the coordinator's lock.
    func grants(to role: String?, readOnly: Bool) throws -> [String]
}
