#if PostgreSQL
    import CoreData
    import Foundation
    import Testing

    #if canImport(Glibc)
        import Glibc
    #endif

    /// A server that announces a version and then does not answer.
    final class FalseServer: Sendable {
        private let listener: Int32
        let port: Int

        init(version: String, encoding: String = "UTF8") throws {
            let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_addr.s_addr = inet_addr("127.0.0.1")
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isReady = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, length) == 0 && listen(listener, 4) == 0
                        && getsockname(listener, $0, &length) == 0
                }
            }
            try #require(isReady)
            self.listener = listener
            port = Int(UInt16(bigEndian: address.sin_port))
            let greeting =
                Self.message("R", [0, 0, 0, 0]) + Self.setting("server_version", version)
                + Self.setting("server_encoding", encoding) + Self.setting("client_encoding", "UTF8")
                + Self.message("K", [0, 0, 0, 1, 0, 0, 0, 1]) + Self.message("Z", [UInt8(ascii: "I")])
            Thread.detachNewThread {
                while true {
                    let client = accept(listener, nil, nil)
                    // Closed here, because another server could reuse the descriptor earlier.
                    guard client >= 0 else { return _ = Glibc.close(listener) }
                    var buffer = [UInt8](repeating: 0, count: 4096)
                    if recv(client, &buffer, buffer.count, 0) > 0 {
                        _ = send(client, greeting, greeting.count, Int32(MSG_NOSIGNAL))
                        _ = recv(client, &buffer, buffer.count, 0)
                    }
                    Glibc.close(client)
                }
            }
        }

        deinit { shutdown(listener, Int32(SHUT_RDWR)) }

        private static func message(_ kind: Character, _ body: [UInt8]) -> [UInt8] {
            let length = UInt32(body.count + 4)
            return [kind.asciiValue ?? 0] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + body
        }

        private static func setting(_ name: String, _ value: String) -> [UInt8] {
            message("S", Array(name.utf8) + [0] + Array(value.utf8) + [0])
        }
    }

    /// Servers that cannot have a store are refused with one line.
    struct ServerVersionTests {
        private func refusal(_ server: FalseServer) throws -> NSError? {
            let url = try #require(
                URL(string: "postgresql://me:s3cret@127.0.0.1:\(server.port)/x?schema=s&sslmode=disable"))
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Shop.model())
            return withExtendedLifetime(server) {
                #expect(throws: NSError.self) { try coordinator.addPersistentStore(type: .postgreSQL, at: url) }
            }
        }

        @Test func aServerThatIsTooOldIsRefused() throws {
            let found = try refusal(FalseServer(version: "14.9"))
            #expect(found?.code == 134080)
            let message = try #require(found?.localizedDescription)
            #expect(message.hasSuffix("the server has PostgreSQL 14; version 15 or later is required."), "\(message)")
            #expect(message.hasPrefix("Cannot open the store postgresql://me@127.0.0.1:"))
        }

        @Test func aDatabaseInAnotherEncodingIsRefused() throws {
            let found = try refusal(FalseServer(version: "16.1", encoding: "LATIN1"))
            #expect(found?.code == 134080)
            let message = try #require(found?.localizedDescription)
            #expect(message.hasSuffix("the database has the encoding LATIN1; UTF8 is required."), "\(message)")
        }
    }
#endif
