import Foundation
import Glibc
import TestSupport
import Testing

/// PgBouncer in front of a test server: each transaction of a client may run on another connection of the server. It
/// ends with this object or this process.
public final class ConnectionPooler {
    private static let program = "/usr/sbin/pgbouncer"
    public static var isInstalled: Bool { access(program, X_OK) == 0 }

    let port: Int
    private let folder: URL
    /// Closed by the system when this process ends. The guardian then ends the pooler.
    private let lifeline = Pipe()

    /// - Parameters:
    ///   - connections: Number of server connections for all clients.
    ///   - dropsSettings: True to ignore settings in a client's connection request, false to refuse them.
    public init(before cluster: PostgreSQLCluster, connections: Int, dropsSettings: Bool = false) throws {
        port = try PostgreSQLCluster.freePort()
        // Readable by the server's user only.
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

    /// URL of a store through the pooler, as the superuser.
    public func url(schema: String) -> URL {
        URL(string: "postgresql://roster@127.0.0.1:\(port)/postgres?schema=\(schema)")!
    }
}
