/// Whole numbers with thousands separators.
public enum GroupedNumber {
    /// `1,234,567`
    public static func text(_ number: Int) -> String {
        var digits = String(number.magnitude)
        var parts: [String] = []
        while digits.count > 3 {
            parts.insert(String(digits.suffix(3)), at: 0)
            digits.removeLast(3)
        }
        parts.insert(digits, at: 0)
        return (number < 0 ? "-" : "") + parts.joined(separator: ",")
    }
}
