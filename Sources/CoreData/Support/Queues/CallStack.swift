import Foundation
import Runtime

/// The calls that led to a place, the innermost first: addresses until they are asked for by name.
struct CallStack: Sendable {
    private static let maximalDepth = 64
    /// Where the program's code and that of its libraries lie. Found once, which takes most of the time of a stack.
    private static let images = ImageMap.capture()

    private let backtrace: Backtrace?

    /// The stack of the caller. Some ten microseconds, after the first one of a thread.
    @inline(never)
    init() { backtrace = try? .capture(limit: Self.maximalDepth, offset: 1, images: Self.images) }

    /// A line for each call: the function, and the library or program that has it. Reads their symbols, which takes some tenths of
    /// a second; files and lines would take several seconds in a large program.
    func lines() -> [String] {
        guard let backtrace else { return ["(no stack can be read here)"] }
        guard let named = backtrace.symbolicated(with: Self.images, options: .useSymbolCache) else {
            return backtrace.frames.map { "\($0.originalProgramCounter)" }
        }
        return named.frames.map { frame in
            frame.symbol.map { "\($0.name) in \($0.imageName)" } ?? "\(frame.captured)"
        }
    }
}
