extension Int {
    /// The sum with a number that is not negative, and `.max` where that is greater than any `Int`: for limits, of which
    /// `.max` is one.
    func addingUpToMaximum(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

extension Int64 {
    /// The difference, and `.min` or `.max` where it is beyond these: for times that a file says.
    func subtractingUpToLimits(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? (other > 0 ? .min : .max) : difference
    }
}
