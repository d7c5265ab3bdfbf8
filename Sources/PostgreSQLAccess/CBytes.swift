#if PostgreSQL
    /// Lists of values for libpq, which reads them only during the call.
    enum CBytes {
        // SAFETY: each place is within `all`, which is never empty and outlives `body`, which must not keep a pointer.
        static func with<Result>(
            _ values: [[UInt8]?], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result
        ) -> Result {
            var all: [UInt8] = []
            all.reserveCapacity(values.reduce(1) { $0 + ($1?.count ?? 0) })
            var places: [Int?] = []
            for value in values {
                places.append(value.map { _ in all.count })
                if let value { all.append(contentsOf: value) }
            }
            all.append(0)
            return all.withUnsafeBufferPointer { buffer in
                buffer.withMemoryRebound(to: CChar.self) { bytes in
                    let start = bytes.baseAddress.unsafelyUnwrapped
                    let pointers = places.map { place in place.map { UnsafePointer(start + $0) } }
                    return pointers.withUnsafeBufferPointer { body($0.baseAddress) }
                }
            }
        }
    }
#endif
