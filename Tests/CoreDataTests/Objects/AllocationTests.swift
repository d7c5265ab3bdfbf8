import Foundation
import TestSupport
import Testing

@testable import CoreData

/// Reads of stored properties of an object with values allocate no memory.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["ROSTER_SANITIZER"] == nil)) struct AllocationTests {
    /// Fills freed blocks of every small size with a pattern. Code that allocates one of them, even briefly, overwrites
    /// it.
    @Test(.needs(.process)) func readingAStoredPropertyAllocatesNothing() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let stack = try ClubStack()
            try stack.context().use { context in
                let team = context.team()
                team.founded = Date(timeIntervalSinceReferenceDate: 3)
                try context.save()
                var sum = 0
                let reads: [(String, () -> Void)] = [
                    ("an integer", { sum &+= Int(team.wins) }),
                    ("a real number", { sum &+= Int(team.rating) }),
                    ("a Boolean", { sum &+= team.favorite ? 1 : 0 }),
                    ("a text", { sum &+= team.name.utf8.count }),
                    ("a date", { sum &+= team.founded == nil ? 1 : 0 }),
                    ("a state", { sum &+= team.isFault ? 1 : 0 }),
                    ("a transient value", { sum &+= Int(team.scratch) }),
                ]
                for (_, read) in reads { read() }
                let allocating = reads.filter { allocates($0.1) }.map(\.0)
                precondition(allocating.isEmpty, "these allocate: \(allocating)")
                let isSeen = allocates { sum &+= (team.value(forKey: "rating") as? NSNumber)?.intValue ?? 0 }
                precondition(isSeen, "an allocation is not seen")
            }
        }
        #expect(result.text.split(separator: "\n").first { $0.contains("these allocate") } == nil)
    }
}

/// True if `body` allocates each time. A single run is not enough, because the allocator's next block also depends on
/// its per-thread cache.
private func allocates(_ body: () -> Void) -> Bool {
    var attempts = 0
    while attempts < 50 {
        if leavesFreeMemoryAlone(body) { return false }
        attempts += 1
    }
    return true
}

/// True if `body` neither allocates nor frees a small block, according to the free blocks.
private func leavesFreeMemoryAlone(_ body: () -> Void) -> Bool {
    // Without arrays and loops over sequences: the measurement must not allocate, even in debug builds.
    let count = 62
    let blocks = UnsafeMutablePointer<UnsafeMutableRawPointer?>.allocate(capacity: count)
    let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 2048)
    var index = 0
    while index < count {
        let size = 24 + 16 * index
        guard let block = malloc(size) else { return false }
        memset(block, 0xA5, size)
        blocks[index] = block
        index += 1
    }
    index = 0
    while index < count {
        free(blocks[index])
        index += 1
    }
    body()
    var isUntouched = true
    index = 0
    while index < count {
        let size = 24 + 16 * index
        guard let block = malloc(size) else { return false }
        if block != blocks[index] { isUntouched = false }
        memset(bytes, 0xA5, size)
        // The first two words belong to the allocator while a block is free.
        if memcmp(block + 16, bytes, size - 16) != 0 { isUntouched = false }
        index += 1
    }
    // The blocks are not freed, so that the next attempt finds the allocator in another state.
    blocks.deallocate()
    bytes.deallocate()
    return isUntouched
}
