import Foundation

/// How many times as long as usual the program may take: under a sanitizer, while other tests run.
let slowness = ProcessInfo.processInfo.environment["ROSTER_SANITIZER"] == nil ? 1 : 20
