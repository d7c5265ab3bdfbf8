import Foundation

/// A line of the report: the framework's figure, the anchor's from the same run, and the target.
struct Line {
    enum Unit: String {
        case milliseconds = "ms"
        case microseconds = "µs"
        case nanoseconds = "ns"
        case bytes = "B"
        case megabytes = "MB"

        /// The value, in seconds or bytes, as text in this unit.
        func text(_ value: Double) -> String {
            let scaled =
                switch self {
                case .milliseconds: value * 1e3
                case .microseconds: value * 1e6
                case .nanoseconds: value * 1e9
                case .bytes: value
                case .megabytes: value / 1e6
                }
            return String(format: scaled < 10 ? "%.2f" : scaled < 100 ? "%.1f" : "%.0f", scaled) + " " + rawValue
        }
    }

    /// A target of a figure: a multiple of the anchor, or a value in seconds or bytes.
    enum Bound {
        case ratio(Double)
        case absolute(Double)
        /// Minimum factor by which the figure has to be faster than the anchor.
        case quicker(Double)
    }

    let number: Int
    let what: String
    let unit: Unit
    let figure: Double
    var anchor: Double?
    var target: Bound?
    var limit: Bound?

    static func printHead() {
        print("| # | workload | Roster | anchor | ratio | target | met | must not exceed |")
        print("|---|---|---:|---:|---:|---:|---|---:|")
    }

    func report() {
        let ratio = anchor.map { anchor in
            if case .quicker = target { return String(format: "1/%.0f", anchor / figure) }
            return String(format: figure < anchor * 10 ? "%.2f×" : "%.0f×", figure / anchor)
        }
        let met = target.map { holds($0) ? "yes" : limit.map { holds($0) ? "no" : "**no**" } ?? "no" }
        let cells = [
            "\(number)", what, unit.text(figure), anchor.map(unit.text) ?? "–", ratio ?? "–", text(target), met ?? "–",
            text(limit),
        ]
        print("| " + cells.joined(separator: " | ") + " |")
        fflush(nil)
    }

    private func holds(_ bound: Bound) -> Bool {
        switch bound {
        case .ratio(let most): anchor.map { figure <= $0 * most } ?? false
        case .absolute(let most): figure <= most
        case .quicker(let least): anchor.map { $0 >= figure * least } ?? false
        }
    }

    private func text(_ bound: Bound?) -> String {
        switch bound {
        case .ratio(let most): String(format: "%g×", most)
        case .absolute(let most): unit.text(most)
        case .quicker(let least): String(format: "1/%g", least)
        case nil: "–"
        }
    }
}
