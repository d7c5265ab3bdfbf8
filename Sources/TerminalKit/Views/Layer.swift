import Translation

/// A part of the screen: a program's screen, a question, a list of choices. The topmost layer gets the keys.
@MainActor public protocol Layer: AnyObject {
    /// Draws the current state. A layer that covers only a part does not draw the rest.
    func draw(in canvas: Canvas)

    /// Handles an event. Returns `false` if it is not handled.
    func handle(_ event: Event) -> Bool

    /// True when the layer has finished its task and has to be removed.
    var isFinished: Bool { get }

    /// True if the layer has text that Escape would discard.
    var isChanged: Bool { get }

    /// True if the layer takes keys as text. Questions that appear by themselves then wait, so that typing does not
    /// answer them.
    var acceptsText: Bool { get }

    /// The text in the last line of the screen while the layer is on top; `nil` if the layer draws that line itself.
    var footer: String? { get }
}

extension Layer {
    /// False by default: Escape discards nothing.
    public var isChanged: Bool { false }

    /// False by default: keys are commands.
    public var acceptsText: Bool { false }

    /// `nil`: the layer draws the last line itself.
    public var footer: String? { nil }
}

/// The layers on the screen, in order from the bottom.
@MainActor public final class LayerStack {
    /// The layers, in order from the bottom.
    public private(set) var layers: [any Layer] = []

    /// Creates a stack without layers.
    public init() {}

    /// The layer that gets the keys; `nil` if there is none.
    public var top: (any Layer)? { layers.last }

    /// Adds a layer on top.
    public func push(_ layer: any Layer) { layers.append(layer) }

    /// Passes an event to the topmost layer.
    ///
    /// Alt with an unhandled key is treated as Escape followed by the key: over a slow connection they arrive as one.
    /// This does not apply if Escape would discard text. If Escape opens a question, the key does not answer it.
    @discardableResult
    public func handle(_ event: Event) -> Bool {
        defer { removeFinished() }
        guard let top else { return false }
        if top.handle(event) { return true }
        guard case .key(var key) = event, key.modifiers.contains(.alt) else { return false }
        guard !top.isChanged else { return false }
        key.modifiers.remove(.alt)
        let count = layers.count
        let escaped = top.handle(.key(Key(.escape)))
        guard layers.count <= count else { return escaped }
        removeFinished()
        let handled = layers.last?.handle(.key(key)) ?? false
        return escaped || handled
    }

    /// Removes a layer at any position.
    public func remove(_ layer: any Layer) { layers.removeAll { $0 === layer } }

    /// Removes all layers.
    public func removeAll() { layers = [] }

    /// Removes the layers that are finished.
    public func removeFinished() { layers.removeAll { $0.isFinished } }

    /// Draws the layers from the bottom up, and the footer of the topmost.
    public func draw(in canvas: Canvas) {
        for layer in layers { layer.draw(in: canvas) }
        // The footer covers the key hints of the layers below: only the top layer gets keys.
        guard let footer = top?.footer, layers.count > 1, canvas.height > 1 else { return }
        canvas.fillLine(canvas.height - 1, style: .text)
        canvas.writeHints(tr(footer), y: canvas.height - 1)
    }
}
