import TerminalKit

/// A layer that shows the progress of background work, and is redrawn repeatedly while it runs.
protocol WorkingLayer: Layer {
    var isWorking: Bool { get }
    /// Shows the result of the work if there is one.
    func takeUp()
}
