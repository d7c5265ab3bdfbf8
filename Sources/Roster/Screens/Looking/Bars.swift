import TerminalKit

/// Amounts as bars and sparklines.
enum Bars {
    /// A bar of at most `width` columns for a fraction from 0 to 1. A positive fraction is always visible.
    static func bar(_ share: Double, width: Int, on canvas: Canvas) -> String {
        guard width > 0, share > 0 else { return "" }
        guard canvas.text.repertoire == .unicode else {
            return String(repeating: "#", count: max(1, Int((share * Double(width)).rounded())))
        }
        let eighths = max(1, Int((min(1, share) * Double(width) * 8).rounded()))
        let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
        return String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
    }

    /// A column for each amount, with a proportional height.
    static func sparkline(_ amounts: [Int], on canvas: Canvas) -> String {
        let signs = canvas.text.repertoire == .unicode ? Array("▁▂▃▄▅▆▇█") : Array("_.-:=+*#")
        guard let greatest = amounts.max(), greatest > 0 else { return "" }
        return String(
            amounts.map { amount in
                guard amount > 0 else { return " " }
                return signs[min(signs.count - 1, amount * signs.count / (greatest + 1))]
            })
    }
}
