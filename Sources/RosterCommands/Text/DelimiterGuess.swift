/// The character between the fields of a CSV file, guessed from its first lines.
enum DelimiterGuess {
    private static let candidates = Array(",;\t|".utf8)
    private static let lines = 10

    /// The candidate that occurs equally often in each line, and most often of these; otherwise the most frequent one of
    /// the first line. A comma if there is none.
    static func separator(of text: ArraySlice<UInt8>) -> UInt8 {
        let counts = self.counts(in: text)
        guard let first = counts.first else { return candidates[0] }
        func best(_ isEligible: (Int) -> Bool) -> Int? {
            candidates.indices.filter { first[$0] > 0 && isEligible($0) }.max { (first[$0], $1) < (first[$1], $0) }
        }
        let regular = best { index in counts.allSatisfy { $0[index] == first[index] } }
        return candidates[regular ?? best { _ in true } ?? 0]
    }

    /// The number of each candidate outside of quotation marks, for each line that is not empty.
    private static func counts(in text: ArraySlice<UInt8>) -> [[Int]] {
        var result: [[Int]] = []
        var (line, isQuoted, isEmpty) = (candidates.map { _ in 0 }, false, true)
        for byte in text {
            if byte == 0x22 { isQuoted.toggle() }
            if !isQuoted, byte == 0x0A || byte == 0x0D {
                if !isEmpty { result.append(line) }
                if result.count == lines { return result }
                (line, isEmpty) = (candidates.map { _ in 0 }, true)
                continue
            }
            isEmpty = false
            if !isQuoted, let index = candidates.firstIndex(of: byte) { line[index] += 1 }
        }
        // The last line may have been read in part only.
        return result.isEmpty && !isEmpty ? [line] : result
    }
}
