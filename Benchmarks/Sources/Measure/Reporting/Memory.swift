import CAllocator
import Foundation

/// What the process has in use.
enum Memory {
    /// Bytes that were allocated and not freed.
    static var heap: Double {
        let info = mallinfo2()
        return Double(info.uordblks + info.hblkhd)
    }

    /// Bytes of memory that the process has at the moment, and the most that it had.
    static var resident: Double { status("VmRSS:") }
    static var peak: Double { status("VmHWM:") }

    private static func status(_ key: String) -> Double {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(key) } ?? ""
        return Double(line.split(whereSeparator: { !$0.isNumber }).first ?? "0").map { $0 * 1_024 } ?? 0
    }
}
