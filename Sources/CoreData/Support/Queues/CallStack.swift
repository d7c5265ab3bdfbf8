import Foundation
import Runtime

/// The calls that led to a place, innermost first. Addresses are symbolicated on demand.
struct CallStack: Sendable {
    private static let maximalDepth = 64
    /// The loaded code of the program and its libraries. Found once, because that takes most of the time of a
    /// capture.
    private static let images = ImageMap.capture()

    private let backtrace: Backtrace?

    /// Captures the caller's stack. Takes about ten microseconds after a thread's first capture.
    @inline(never)
    init() { backtrace = try? .capture(limit: Self.maximalDepth, offset: 1, images: Self.images) }

    /// Returns one line for each call: the function, and its library or program. Reading the symbols takes some tenths
    /// of a second; files and lines would take several seconds in a large program.
    func lines() -> [String] {
        guard let backtrace else { return ["(no stack available)"] }
        guard let named = backtrace.symbolicated(with: Self.images, options: .useSymbolCache) else {
            return backtrace.frames.map { "\($0.originalProgramCounter)" }
        }
        return named.frames.map { frame in
            frame.symbol.map { "\($0.name) in \($0.imageName)" } ?? "\(frame.captured)"
        }
    }
}
