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
    /// Decoder if the input is not UTF-8, as which it is read.
    private var decoder: (any TextDecoder)?
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
    /// - Parameter encoding: that of a file without a mark; `nil` for UTF-8, or an error if it seems to be UTF-16.
    /// - Throws: ``CommandError`` if the file seems to be UTF-16 without a mark.
    func skipByteOrderMark(orElse encoding: TextEncoding? = nil) throws {
        guard peek() != nil else { return }
        guard try !skipMark(orElse: encoding), var decoder = encoding?.decoder else { return }
        take(decoder.utf8(of: buffer[position..<limit], isEnd: false))
        self.decoder = decoder
    }

    /// Returns true if there is a mark.
    private func skipMark(orElse encoding: TextEncoding?) throws -> Bool {
        guard limit - position >= 2 else { return false }
        switch (buffer[position], buffer[position + 1]) {
        case (0xEF, 0xBB) where limit - position >= 3 && buffer[position + 2] == 0xBF: position += 3
        case (0xFF, 0xFE), (0xFE, 0xFF):
            var decoder = UTF16Decoder(isBigEndian: buffer[position] == 0xFE)
            take(decoder.utf8(of: buffer[(position + 2)..<limit], isEnd: false))
            self.decoder = decoder
        case (0, 1...) where encoding == nil, (1..., 0) where encoding == nil:
            let isBigEndian = buffer[position] == 0
            let encoding: TextEncoding = isBigEndian ? .utf16BigEndian : .utf16LittleEndian
            throw CommandError.failure(
                "cannot read \(name): it is \(isBigEndian ? "UTF-16BE" : "UTF-16LE") without a byte order mark. Add --encoding \(encoding.rawValue)"
            )
        default: return false
        }
        return true
    }

    /// The bytes that were read and not taken yet: the start of the file, before the first was taken.
    var beginning: ArraySlice<UInt8> {
        _ = peek()
        return buffer[position..<limit]
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
                guard let bytes = decoder?.utf8(of: buffer[..<count], isEnd: count == 0) else { return }
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
