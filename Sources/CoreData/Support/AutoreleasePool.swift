/// Calls `body` and returns its result. Without Objective-C there are no pools, and an object is released with its
/// last reference. The function exists because loops written for Apple's platforms call Foundation's.
///
/// - Throws: rethrows the error of `body`.
public func autoreleasepool<Result>(invoking body: () throws -> Result) rethrows -> Result { try body() }
