#if PostgreSQL
    import Foundation
    import PostgreSQLCluster
    import Synchronization
    import Testing

    #if canImport(Glibc)
        import Glibc
    #endif

    /// A proxy in front of the test server that can be cut. It listens on a port of the loopback interface.
    final class CuttableProxy: Sendable {
        private struct State {
            /// Bytes of both directions are held back.
            var isHeld = false
            /// Connections are closed at once.
            var isClosed = false
            /// Bytes to wait for. The connection ends after the client's next bytes, before their answer.
            var trigger: [UInt8]?
            var isNext = false
            var closesThen = false
            var count = 0
            /// Number of sync messages of clients, each of which waits for an answer.
            var roundTrips = 0
            /// Number of bytes received from the server.
            var answered = 0
            /// Text to search for in the clients' bytes, and the number of matches.
            var wanted: [UInt8] = []
            var found = 0
            /// Delay of answers in microseconds.
            var delay: UInt32 = 0
            /// Text in the clients' bytes to replace by another of the same length.
            var garbled: (text: [UInt8], other: [UInt8])?
            var isOver = false
            /// Clients are cut off but the server is not informed: its ends of the connections remain open.
            var isTorn = false
            var orphans: [Int32] = []
        }

        private let state = Mutex(State())
        private let listener: Int32
        private let target: Int
        let port: Int

        init(to target: Int) throws {
            self.target = target
            listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = Self.address(0)
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let listener = listener
            let isReady = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, length) == 0 && listen(listener, 16) == 0
                        && getsockname(listener, $0, &length) == 0
                }
            }
            try #require(isReady)
            port = Int(UInt16(bigEndian: address.sin_port))
            Thread.detachNewThread { [self] in run() }
        }

        private static func address(_ port: Int) -> sockaddr_in {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(UInt16(port).bigEndian)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            return address
        }

        var connectionCount: Int { state.withLock { $0.count } }

        var roundTrips: Int { state.withLock { $0.roundTrips } }

        var answered: Int { state.withLock { $0.answered } }

        /// Resets the count and counts occurrences of `text` in the clients' bytes.
        func count(_ text: String) { state.withLock { ($0.wanted, $0.found) = (Array(text.utf8), 0) } }
        var found: Int { state.withLock { $0.found } }

        /// Delays answers, as a remote server does.
        func delay(by microseconds: UInt32) { state.withLock { $0.delay = microseconds } }

        /// Replaces `text` by `other`, of the same length, in bytes to the server.
        func garble(_ text: String, as other: String) {
            precondition(text.utf8.count == other.utf8.count, "the lengths of messages stay")
            state.withLock { $0.garbled = (Array(text.utf8), Array(other.utf8)) }
        }

        /// True if new connections are closed at once.
        var isClosed: Bool { state.withLock { $0.isClosed } }

        func hold() { state.withLock { $0.isHeld = true } }
        func close() { state.withLock { $0.isClosed = true } }
        func open() { state.withLock { ($0.isHeld, $0.isClosed, $0.trigger) = (false, false, nil) } }
        /// Drops the answer to the client's next bytes after `text`. With `closing`, later connections are closed, too.
        func losesAnswer(after text: String, closing: Bool) {
            state.withLock { ($0.trigger, $0.isNext, $0.closesThen) = (Array(text.utf8), false, closing) }
        }

        /// Cuts off the present clients like a network that drops every packet. The server does not notice.
        func tear() { state.withLock { $0.isTorn = true } }
        func mend() { state.withLock { $0.isTorn = false } }

        func stop() {
            let orphans = state.withLock { state in
                state.isOver = true
                return state.orphans
            }
            for orphan in orphans { Glibc.close(orphan) }
            shutdown(listener, Int32(SHUT_RDWR))
            Glibc.close(listener)
        }

        /// URL of a store through this proxy, for a role made for it.
        func url(schema: String) throws -> URL {
            let cluster = try #require(PostgreSQLCluster.shared)
            let name = "way\(UInt32.random(in: 0 ... .max))"
            try cluster.psql("CREATE ROLE \(name) LOGIN SUPERUSER PASSWORD 'x'")
            return try #require(
                URL(string: "postgresql://\(name):x@127.0.0.1:\(port)/postgres?schema=\(schema)&sslmode=disable"))
        }

        private func run() {
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0 else { return }
                let isClosed = state.withLock { state in
                    state.count += 1
                    return state.isClosed
                }
                guard !isClosed else {
                    Glibc.close(client)
                    continue
                }
                Thread.detachNewThread { [self] in pass(client) }
            }
        }

        private func pass(_ client: Int32) {
            let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var isTorn = false
            defer {
                Glibc.close(client)
                if !isTorn { Glibc.close(server) }
            }
            var address = Self.address(target)
            let isConnected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isConnected else { return }
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            var tail: [UInt8] = []
            var saidBefore: [UInt8] = []
            while true {
                let now = state.withLock { $0 }
                if now.isOver || now.isClosed { return }
                if now.isTorn {
                    isTorn = true
                    state.withLock { $0.orphans.append(server) }
                    return
                }
                if now.isHeld {
                    usleep(2000)
                    continue
                }
                var ready = [
                    pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                    pollfd(fd: server, events: Int16(POLLIN), revents: 0),
                ]
                guard poll(&ready, 2, 5) >= 0 else { return }
                for (index, (from, to)) in [(client, server), (server, client)].enumerated()
                where ready[index].revents != 0 {
                    let count = recv(from, &buffer, buffer.count, 0)
                    guard count > 0 else { return }
                    if index == 1 { state.withLock { $0.answered += count } }
                    if index == 1, now.delay > 0 { usleep(now.delay) }
                    if index == 0, let garbled = now.garbled { Self.garble(&buffer, count, garbled) }
                    guard send(to, buffer, count, Int32(MSG_NOSIGNAL)) == count else { return }
                    if index == 0 {
                        let asked = Self.syncs(in: &tail, buffer[..<count])
                        state.withLock { state in
                            state.roundTrips += asked
                            guard !state.wanted.isEmpty else { return }
                            let said = saidBefore.suffix(state.wanted.count - 1) + buffer[..<count]
                            state.found += Self.count(of: state.wanted, in: Array(said))
                        }
                        saidBefore = Array((saidBefore + buffer[..<count]).suffix(256))
                    }
                    let then = state.withLock { $0 }
                    guard index == 0, let trigger = then.trigger else { continue }
                    if then.isNext {
                        // The server gets the bytes; the answer is lost.
                        state.withLock { ($0.trigger, $0.isNext, $0.isClosed) = (nil, false, $0.closesThen) }
                        usleep(50_000)
                        return
                    }
                    if contains(buffer[..<count], trigger) { state.withLock { $0.isNext = true } }
                }
            }
        }

        /// The message that ends a list of statements.
        private static let sync: [UInt8] = [UInt8(ascii: "S"), 0, 0, 0, 4]

        /// Number of sync messages in `bytes`, which follow `tail`. Almost exact: a value may contain the same bytes.
        private static func syncs(in tail: inout [UInt8], _ bytes: ArraySlice<UInt8>) -> Int {
            let all = tail + bytes
            tail = Array(all.suffix(sync.count - 1))
            guard all.count >= sync.count else { return 0 }
            return (0...all.count - sync.count).count { start in
                all[start] == sync[0] && all[start..<start + sync.count].elementsEqual(sync)
            }
        }

        private static func garble(
            _ buffer: inout [UInt8], _ count: Int, _ garbled: (text: [UInt8], other: [UInt8])
        ) {
            let length = garbled.text.count
            guard count >= length else { return }
            for start in 0...count - length where buffer[start..<start + length].elementsEqual(garbled.text) {
                buffer.replaceSubrange(start..<start + length, with: garbled.other)
            }
        }

        private static func count(of wanted: [UInt8], in bytes: [UInt8]) -> Int {
            guard bytes.count >= wanted.count else { return 0 }
            return (0...bytes.count - wanted.count).count { start in
                bytes[start] == wanted[0] && bytes[start..<start + wanted.count].elementsEqual(wanted)
            }
        }

        private func contains(_ bytes: ArraySlice<UInt8>, _ wanted: [UInt8]) -> Bool {
            guard bytes.count >= wanted.count else { return false }
            return (bytes.startIndex...bytes.endIndex - wanted.count).contains { start in
                bytes[start..<start + wanted.count].elementsEqual(wanted)
            }
        }
    }
#endif
