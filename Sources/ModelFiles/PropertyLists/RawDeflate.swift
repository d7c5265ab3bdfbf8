import CZlib
import Foundation

/// Raw deflate (RFC 1951), without the header and checksum of zlib or gzip: the format of the model in a store.
package enum RawDeflate {
    /// The reason why data cannot be inflated.
    package enum Failure: Error, Equatable, Sendable {
        case damaged
        case truncated
        /// The data would exceed the limit.
        case tooLarge(limit: Int)
        case outOfMemory
    }

    /// The compressed form of `data`.
    ///
    /// - Throws: ``Failure/outOfMemory``.
    // SAFETY: zlib reads and writes within the counts that it is given, during the closures, which hold both buffers.
    package static func compress(_ data: Data) throws -> Data {
        var stream = z_stream()
        guard
            deflateInit2_(
                &stream, Z_BEST_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
                Int32(MemoryLayout<z_stream>.size)) == Z_OK
        else { throw Failure.outOfMemory }
        defer { deflateEnd(&stream) }
        var output = [UInt8](repeating: 0, count: Int(deflateBound(&stream, UInt(data.count))))
        var input = [UInt8](data)
        let status = input.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                stream.next_in = source.baseAddress
                stream.avail_in = UInt32(source.count)
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                return deflate(&stream, Z_FINISH)
            }
        }
        guard status == Z_STREAM_END else { throw Failure.outOfMemory }
        return Data(output.prefix(Int(stream.total_out)))
    }

    /// The decompressed form of `data`.
    ///
    /// - Parameter limit: The maximum size of the result, so that a small file cannot fill the memory.
    /// - Throws: ``Failure``.
    // SAFETY: zlib reads and writes within the counts that it is given, during the closures, which hold both buffers.
    package static func expand(_ data: Data, limit: Int = 256 << 20) throws -> Data {
        var stream = z_stream()
        guard inflateInit2_(&stream, -MAX_WBITS, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw Failure.outOfMemory
        }
        defer { inflateEnd(&stream) }
        var input = [UInt8](data)
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        var output = Data()
        try input.withUnsafeMutableBufferPointer { source in
            stream.next_in = source.baseAddress
            stream.avail_in = UInt32(source.count)
            var status = Z_OK
            while status == Z_OK {
                let written = chunk.withUnsafeMutableBufferPointer { target in
                    stream.next_out = target.baseAddress
                    stream.avail_out = UInt32(target.count)
                    status = inflate(&stream, Z_NO_FLUSH)
                    let count = target.count - Int(stream.avail_out)
                    if let start = target.baseAddress { output.append(start, count: count) }
                    return count
                }
                guard output.count <= limit else { throw Failure.tooLarge(limit: limit) }
                // Nothing was read or written: the input ended before the stream did.
                if status == Z_OK, stream.avail_in == 0, written == 0 { status = Z_BUF_ERROR }
            }
            switch status {
            case Z_STREAM_END: return
            case Z_BUF_ERROR: throw Failure.truncated
            case Z_MEM_ERROR: throw Failure.outOfMemory
            default: throw Failure.damaged
            }
        }
        return output
    }
}
