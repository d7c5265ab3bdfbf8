import Foundation

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The bytes of a file or a pipe, one by one, with the number of the line.
///
/// Reads 64 KiB at a time, so memory does not grow with the file. A read that fails ends the bytes and is thrown by
/// ``throwIfFailed()``.
final class ByteReader {
    /// What the file is called in messages.
    let name: String
    /// The length of the file, or `nil` for a pipe.
    let length: Int?
    private(set) var line = 1
    /// The line of the last byte taken: at the end of a file whose last line is complete, that line and not the one behind.
    private(set) var lastLine = 1
    private var descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    private var position = 0
    private var limit = 0
    private var consumed = 0
    private var failure: CommandError?
    /// How much more the record that is being read may take.
    private var room: Int
    private let greatestRecord: Int
    private let interruption: (any Interruption)?
    /// How long the reader waits for bytes before it looks for a request to stop, in milliseconds.
    private static let patience: Int32 = 100

    /// Opens the file at `path`; `-` is standard input.
    ///
    /// - Parameters:
    ///   - interruption: ends the bytes with an error when it is raised, also while nothing comes.
    ///   - greatestRecord: about how many bytes a record may take, see ``beginRecord()``.
    init(path: String, interruption: (any Interruption)? = nil, greatestRecord: Int = 1 << 30) throws {
        self.interruption = interruption
        (self.greatestRecord, room) = (greatestRecord, greatestRecord)
        name = path == "-" ? "standard input" : path
        // Opening a pipe would wait for its writer, where no request is looked for.
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

    /// Reads bytes that are there already.
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

    /// How much of the file has been taken, from 0 to 1; `nil` where its length is not known.
    var fraction: Double? {
        guard let length, length > 0 else { return nil }
        return min(1, Double(consumed - limit + position) / Double(length))
    }

    /// The next byte, left where it is; `nil` at the end.
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

    /// Takes a byte order mark of UTF-8, if the file begins with one.
    func skipByteOrderMark() {
        guard peek() == 0xEF, limit - position >= 3, buffer[position + 1] == 0xBB, buffer[position + 2] == 0xBF else {
            return
        }
        position += 3
    }

    /// A record begins. One that takes too much ends the bytes with an error: memory would not be enough for a text without end.
    func beginRecord() { room = greatestRecord }

    /// A value of the record takes memory beside its bytes.
    func noteValue() {
        room -= 64
        if room < 0 { endOversizedRecord() }
    }

    private func endOversizedRecord() {
        guard failure == nil else { return }
        failure = .failure(
            "\(name):\(lastLine): a record is longer than \(greatestRecord >> 20) MiB: does it lack its end?")
        (position, limit) = (0, 0)
    }

    /// - Throws: the error with which reading ended, if it ended with one.
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
            let count = read(descriptor, &buffer, buffer.count)
            if count >= 0 {
                (position, limit) = (0, count)
                consumed += count
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
