import TerminalKit

/// A screen that says how long some work beside the keys goes on, and so is painted again and again meanwhile.
protocol WorkingLayer: Layer {
    var isWorking: Bool { get }
    /// Shows the result of the work, where it is there.
    func takeUp()
}
