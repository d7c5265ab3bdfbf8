import CAllocator
import Foundation

/// Memory in use by the process.
enum Memory {
    /// Bytes allocated and not freed.
    static var heap: Double {
        let info = mallinfo2()
        return Double(info.uordblks + info.hblkhd)
    }

    /// Current and greatest resident memory in bytes.
    static var resident: Double { status("VmRSS:") }
    static var peak: Double { status("VmHWM:") }

    private static func status(_ key: String) -> Double {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(key) } ?? ""
        return Double(line.split(whereSeparator: { !$0.isNumber }).first ?? "0").map { $0 * 1_024 } ?? 0
    }
}
