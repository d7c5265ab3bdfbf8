extension Int {
    /// The sum with a number that is not negative, and `.max` where that is greater than any `Int`: for limits, of which
    /// `.max` is one.
    func addingUpToMaximum(_ other: Int) -> Int {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
