/// A store whose server has roles.
package protocol GrantingStore: AnyObject {
    /// Returns SQL statements that grant `role` the rights to read the store, or also to save to it. Called under the
    /// coordinator's lock.
    func grants(to role: String?, readOnly: Bool) throws -> [String]
}
