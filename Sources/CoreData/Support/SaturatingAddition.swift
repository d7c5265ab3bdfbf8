extension Int {
    /// The sum with a non-negative number, or `.max` on overflow. For limits, of which `.max` is one.
    func addingUpToMaximum(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

extension Int64 {
    /// The difference, or `.min` or `.max` on overflow. For times read from a file.
    func subtractingUpToLimits(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }
}
