import Translation

/// Something that lies on the screen: a screen of the program, a question, a list to pick from. The topmost gets the keys.
public protocol Layer: AnyObject {
    /// Paints the present state. A layer that covers only a part leaves the rest alone.
    func draw(in canvas: Canvas)

    /// Acts on an event. Answers `false` when it means nothing here.
    func handle(_ event: Event) -> Bool

    /// Set by the layer when its work is over: it is taken off the stack.
    var isFinished: Bool { get }

    /// Whether the layer has text that Escape would drop.
    var isChanged: Bool { get }

    /// What the last line of the screen says while the layer is on top; `nil` where the layer paints that line itself.
    var footer: String? { get }
}

extension Layer {
    /// `false`: Escape drops nothing.
    public var isChanged: Bool { false }

    /// Nothing: the layer paints the last line itself.
    public var footer: String? { nil }
}

/// The layers on the screen, from the bottom up.
public final class LayerStack {
    /// The layers, from the bottom up.
    public private(set) var layers: [any Layer] = []

    /// A stack without layers.
    public init() {}

    /// The layer that gets the keys; `nil` where there is none.
    public var top: (any Layer)? { layers.last }

    /// Puts a layer on top.
    public func push(_ layer: any Layer) { layers.append(layer) }

    /// Hands an event to the topmost layer.
    ///
    /// Alt with a key that means nothing is taken as Escape and the key: over a slow line they arrive as one. Text that would be
    /// dropped by Escape stays, and a question that Escape asks is not answered by the key.
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

    /// Takes a layer off, wherever it lies.
    public func remove(_ layer: any Layer) { layers.removeAll { $0 === layer } }

    /// Takes all layers off.
    public func removeAll() { layers = [] }

    /// Takes off the layers whose work is over.
    public func removeFinished() { layers.removeAll { $0.isFinished } }

    /// Paints the layers from the bottom up, and the footer of the topmost.
    public func draw(in canvas: Canvas) {
        for layer in layers { layer.draw(in: canvas) }
        // The keys of the layers beneath mean nothing now.
        guard let footer = top?.footer, layers.count > 1, canvas.height > 1 else { return }
        canvas.fillLine(canvas.height - 1, style: .text)
        canvas.write(tr(footer), x: 0, y: canvas.height - 1, style: .muted)
    }
}
