import Foundation
import Glibc
import TestSupport
import Testing

/// PgBouncer before a server of the tests: a connection of the server serves one transaction of a client, and the next one
/// of any other. It ends with this object, or this process.
public final class ConnectionPooler {
    private static let program = "/usr/sbin/pgbouncer"
    public static var isInstalled: Bool { access(program, X_OK) == 0 }

    let port: Int
    private let folder: URL
    /// Closed by the system when this process ends: then the guardian ends the pooler.
    private let lifeline = Pipe()

    /// - Parameters:
    ///   - connections: how many of the server's there are for all clients.
    ///   - dropsSettings: whether settings that a client wants are dropped; they are refused otherwise.
    public init(before cluster: PostgreSQLCluster, connections: Int, dropsSettings: Bool = false) throws {
        port = try PostgreSQLCluster.freePort()
        // Where the server's user may read it, and no other user.
        folder = cluster.folder.appendingPathComponent("pooler-\(port)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let file = folder.appendingPathComponent("pgbouncer.ini")
        let settings = """
            [databases]
            postgres = host=\(cluster.folder.path) port=\(cluster.port) user=\(cluster.user)
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = \(port)
            unix_socket_dir =
            auth_type = any
            pool_mode = transaction
            default_pool_size = \(connections)
            \(dropsSettings ? "ignore_startup_parameters = options" : "")
            """
        try Data(settings.utf8).write(to: file)
        if let owner = getpwnam("postgres") ?? getpwnam("nobody"), getuid() == 0 {
            for path in [folder.path, file.path] { chown(path, owner.pointee.pw_uid, owner.pointee.pw_gid) }
        }
        let command = (cluster.prefix + [Self.program, "-q", file.path]).map { "'\($0)'" }.joined(separator: " ")
        let script =
            "trap '' INT TERM HUP QUIT; \(command) >/dev/null 2>&1 </dev/null & cat >/dev/null; kill -9 $!; "
            + "rm -rf '\(folder.path)'"
        _ = fcntl(lifeline.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        PostgreSQLCluster.wait(
            for: try PostgreSQLCluster.spawn(
                ["setsid", "--fork", "sh", "-c", script], input: lifeline.fileHandleForReading.fileDescriptor,
                output: "/dev/null"))
        guard eventually("the pooler listens", { isListening }) else {
            throw PostgreSQLCluster.Failure(description: "the pooler does not start")
        }
    }

    private var isListening: Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }

    /// A store's URL by the pooler, as the superuser.
    public func url(schema: String) -> URL {
        URL(string: "postgresql://roster@127.0.0.1:\(port)/postgres?schema=\(schema)")!
    }
}
