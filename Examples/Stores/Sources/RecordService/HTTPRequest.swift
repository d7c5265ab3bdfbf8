import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// A request from a connection, with the part of HTTP/1.1 that one request and its answer need.
struct HTTPRequest {
    let method: String
    let path: String
    let query: [String: [String]]
    let body: Data

    private static let greatestSize = 64 << 20

    /// Reads one request.
    ///
    /// - Returns: Nil if the connection ends early or the request is invalid.
    static func read(from connection: Int32) -> HTTPRequest? {
        var data = Data()
        let end = Data("\r\n\r\n".utf8)
        var head: Range<Data.Index>?
        while head == nil {
            guard data.count < 1 << 16, receive(into: &data, from: connection) else { return nil }
            head = data.range(of: end)
        }
        guard let head else { return nil }
        let lines = String(decoding: data[..<head.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count == 3, let url = URLComponents(string: String(words[1])) else { return nil }
        let length =
            lines.dropFirst().first { $0.lowercased().hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) } ?? 0
        guard (0...greatestSize).contains(length) else { return nil }
        while data.count - head.upperBound < length {
            guard receive(into: &data, from: connection) else { return nil }
        }
        let items = (url.queryItems ?? []).map { ($0.name, $0.value ?? "") }
        return HTTPRequest(
            method: String(words[0]), path: url.path,
            query: Dictionary(grouping: items, by: \.0).mapValues { $0.map(\.1) },
            body: data[head.upperBound..<head.upperBound + length])
    }

    private static func receive(into data: inout Data, from connection: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        let count = recv(connection, &buffer, buffer.count, 0)
        guard count > 0 else { return false }
        data.append(contentsOf: buffer[..<count])
        return true
    }

    /// Writes an answer. Errors of a closed connection are ignored.
    static func write(_ answer: (status: Int, body: Data), to connection: Int32) {
        let head =
            "HTTP/1.1 \(answer.status) \(answer.status == 200 ? "OK" : "Refused")\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(answer.body.count)\r\nConnection: close\r\n\r\n"
        var rest = [UInt8](Data(head.utf8) + answer.body)[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }
}
