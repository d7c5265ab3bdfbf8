/// A number of records in words: `1 record`, `2000 records`.
enum RecordCount {
    static func text(_ count: Int) -> String { count == 1 ? "1 record" : "\(count) records" }
}
