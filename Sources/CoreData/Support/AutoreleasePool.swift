/// Calls `body` and returns what it returns. There are no pools without Objective-C: an object without references goes
/// away at once. Foundation has the function on Apple's systems, and loops over many objects are written with it.
///
/// - Throws: what `body` throws.
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
