/// The state of a store that a list shows.
struct ListOrigin: Hashable, Sendable {
    /// The change token of the store: a text that differs after every commit of any process.
    let token: String
    /// The last transaction in the store's history, if it keeps one.
    let historyNumber: Int64?

    /// The present state. Called under the coordinator's lock.
    init(of store: any RowStore) throws {
        token = try store.operations.changeToken()
        historyNumber = try store.operations.lastHistoryNumber()
    }

    init(token: String, historyNumber: Int64?) {
        self.token = token
        self.historyNumber = historyNumber
    }
}
