import Foundation

import Glibc

/// The bytes of a file or a pipe, one by one, with their line numbers.
///
/// Reads 64 KiB at a time, so memory does not grow with the file. A failed read ends the bytes; ``throwIfFailed()``
/// throws its error.
final class ByteReader {
    /// Name of the file in messages.
    let name: String
    /// The length of the file, or `nil` for a pipe.
    let length: Int?
    private(set) var line = 1
    /// Line of the last byte taken. At the end of a file with a complete last line, that line and not the next.
    private(set) var lastLine = 1
    private var descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: size)
    private static let size = 1 << 16
    private var position = 0
    private var limit = 0
    private var consumed = 0
    private var failure: CommandError?
    /// Number of bytes that the current record may still use.
    private var room: Int
    private let greatestRecord: Int
    /// Decoder if the input is UTF-16, which is read as UTF-8.
    private var utf16: UTF16Decoder?
    private let interruption: (any Interruption)?
    /// Milliseconds to wait for bytes before checking for a request to stop.
    private static let patience: Int32 = 100

    /// Opens the file at `path`; `-` is standard input.
    ///
    /// - Parameters:
    ///   - interruption: ends the bytes with an error when it is raised, also while waiting for input.
    ///   - greatestRecord: approximate limit of a record's bytes, see ``beginRecord()``.
    init(path: String, interruption: (any Interruption)? = nil, greatestRecord: Int = 1 << 30) throws {
        self.interruption = interruption
        (self.greatestRecord, room) = (greatestRecord, greatestRecord)
        name = path == "-" ? "standard input" : path
        // Opening a pipe would wait for its writer and could not be interrupted.
        descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw CommandError.failure("cannot read \(name): \(Self.reason())") }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw CommandError.failure("cannot read \(name): \(Self.reason())")
        }
        if status.st_mode & S_IFMT == S_IFDIR {
            throw CommandError.failure("cannot read \(name): it is a folder")
        }
        if path != "-" { _ = fcntl(descriptor, F_SETFL, O_RDONLY) }
        length = status.st_mode & S_IFMT == S_IFREG ? Int(status.st_size) : nil
    }

    /// Reads bytes in memory.
    init(_ bytes: [UInt8], name: String) {
        self.name = name
        interruption = nil
        (greatestRecord, room) = (.max, .max)
        length = bytes.count
        descriptor = -1
        buffer = bytes
        (consumed, limit) = (bytes.count, bytes.count)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Fraction of the file read so far, from 0 to 1; `nil` if its length is unknown.
    var fraction: Double? {
        guard let length, length > 0 else { return nil }
        return min(1, Double(consumed - limit + position) / Double(length))
    }

    /// Returns the next byte without taking it; `nil` at the end.
    func peek() -> UInt8? {
        if position == limit { refill() }
        return position < limit ? buffer[position] : nil
    }

    /// Takes the next byte; `nil` at the end.
    func next() -> UInt8? {
        guard let byte = peek() else { return nil }
        position += 1
        lastLine = line
        if byte == 0x0A { line += 1 }
        return byte
    }

    /// Takes a byte order mark of UTF-8 or UTF-16 if the file begins with one. Later bytes are UTF-8.
    ///
    /// - Throws: ``CommandError`` if the file seems to be UTF-16 without a mark.
    func skipByteOrderMark() throws {
        guard peek() != nil, limit - position >= 2 else { return }
        switch (buffer[position], buffer[position + 1]) {
        case (0xEF, 0xBB) where limit - position >= 3 && buffer[position + 2] == 0xBF: position += 3
        case (0xFF, 0xFE), (0xFE, 0xFF):
            var decoder = UTF16Decoder(isBigEndian: buffer[position] == 0xFE)
            take(decoder.utf8(of: buffer[(position + 2)..<limit]))
            utf16 = decoder
        case (0, 1...), (1..., 0):
            let name = buffer[position] == 0 ? "UTF-16BE" : "UTF-16LE"
            throw CommandError.failure(
                "cannot read \(self.name): it is \(name) without a byte order mark. Convert it with iconv -f \(name) -t UTF-8"
            )
        default: break
        }
    }

    private func take(_ bytes: [UInt8]) {
        buffer = bytes
        (position, limit) = (0, bytes.count)
    }

    /// Begins a record. A record over the limit ends the bytes with an error, so memory is not exhausted.
    func beginRecord() { room = greatestRecord }

    /// Counts the memory that a value of the record uses in addition to its bytes.
    func noteValue() {
        room -= 64
        if room < 0 { endOversizedRecord() }
    }

    private func endOversizedRecord() {
        guard failure == nil else { return }
        failure = .failure(
            "\(name):\(lastLine): a record is longer than \(greatestRecord >> 20) MiB; its closing quote or bracket may be missing"
        )
        (position, limit) = (0, 0)
    }

    /// - Throws: the error that ended reading, if any.
    func throwIfFailed() throws {
        if let failure { throw failure }
    }

    private func refill() {
        guard failure == nil, descriptor >= 0 else { return }
        room -= limit
        if room < 0 { return endOversizedRecord() }
        while true {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let isReady = interruption == nil || poll(&waiting, 1, Self.patience) != 0
            if interruption?.isRaised == true {
                failure = .interrupted
                (position, limit) = (0, 0)
                return
            }
            guard isReady else { continue }
            if buffer.count < Self.size { buffer = [UInt8](repeating: 0, count: Self.size) }
            let count = read(descriptor, &buffer, buffer.count)
            if count >= 0 {
                (position, limit) = (0, count)
                consumed += count
                guard utf16 != nil, let bytes = utf16?.utf8(of: buffer[..<count], isEnd: count == 0) else { return }
                take(bytes)
                // The input ends within a character; reads the rest of it.
                if bytes.isEmpty, count > 0 { continue }
                return
            }
            if errno == EINTR { continue }
            failure = .failure("cannot read \(name): \(Self.reason())")
            (position, limit) = (0, 0)
            return
        }
    }

    private static func reason() -> String { String(cString: strerror(errno)) }
}

/// Decodes UTF-16 in pieces to UTF-8. Unpaired surrogates are replaced.
private struct UTF16Decoder {
    let isBigEndian: Bool
    /// Bytes of an incomplete character.
    private var rest: [UInt8] = []

    init(isBigEndian: Bool) { self.isBigEndian = isBigEndian }

    mutating func utf8(of bytes: ArraySlice<UInt8>, isEnd: Bool = false) -> [UInt8] {
        let all = rest + bytes
        var units = stride(from: 0, to: all.count - 1, by: 2).map { index in
            let (first, second) = (UInt16(all[index]), UInt16(all[index + 1]))
            return isBigEndian ? first << 8 | second : second << 8 | first
        }
        if !isEnd, let last = units.last, UTF16.isLeadSurrogate(last) { units.removeLast() }
        rest = isEnd ? [] : Array(all[(2 * units.count)...])
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}
