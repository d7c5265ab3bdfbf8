import ChildProgram
import Foundation
import Glibc
import TestSupport
import Testing

/// A PostgreSQL server for tests in a temporary folder, reached through a socket there and through a free port of the
/// loopback interface. It is stopped and removed when this process ends, however that happens.
///
/// The server does not run as root. If the tests do, it runs as the user `postgres`, or as `nobody`.
public final class PostgreSQLCluster: @unchecked Sendable {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// The shared server of this process, started on first use; nil if PostgreSQL is not installed or server tests are
    /// not selected.
    public static let shared: PostgreSQLCluster? = make()

    /// Starts a server for one test, which may stop and start it. It exists until this process ends.
    ///
    /// - Parameter isDurable: True if commits have to survive a crash of the server.
    public static func make(isDurable: Bool = false) -> PostgreSQLCluster? {
        guard let programs = programs() else { return nil }
        do { return try PostgreSQLCluster(programs: programs, isDurable: isDurable) } catch {
            FileHandle.standardError.write(Data("No PostgreSQL server for the tests: \(error)\n".utf8))
            return nil
        }
    }

    /// True if an installed server was found and server tests are selected.
    public static var isInstalled: Bool { programs() != nil }

    /// Starts a streaming replica of this running server. ``promote()`` makes it the primary.
    public func makeReplica() throws -> PostgreSQLCluster {
        try PostgreSQLCluster(programs: programs, isDurable: isDurable, of: self)
    }

    public let folder: URL
    public let port: Int
    /// The superuser, who needs no password at the socket.
    public let user = "roster"
    private let programs: URL
    let prefix: [String]
    /// Closed by the system when this process ends. The guardian then stops the server.
    private let lifeline = Pipe()

    /// The folder with the programs of the newest version.
    private static func programs() -> URL? {
        guard TestTopic.server.isChosen else { return nil }
        let root = URL(fileURLWithPath: "/usr/lib/postgresql")
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root.path)) ?? []
        return versions.compactMap { Int($0) }.filter { $0 >= 15 }.max().map {
            root.appendingPathComponent("\($0)/bin")
        }
    }

    private let isDurable: Bool

    private init(programs: URL, isDurable: Bool, of primary: PostgreSQLCluster? = nil) throws {
        self.programs = programs
        self.isDurable = isDurable
        folder = URL(fileURLWithPath: "/tmp/roster-postgresql-\(getpid())-\(UInt32.random(in: 0...UInt32.max))")
        port = try Self.freePort()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        if getuid() == 0 {
            guard let owner = getpwnam("postgres") ?? getpwnam("nobody") else {
                throw Failure(description: "there is no user to run the server as")
            }
            let (name, group) = (String(cString: owner.pointee.pw_name), owner.pointee.pw_gid)
            chown(folder.path, owner.pointee.pw_uid, group)
            prefix = ["setpriv", "--reuid=\(name)", "--regid=\(group)", "--clear-groups"]
        } else {
            prefix = []
        }
        chmod(folder.path, 0o700)
        if let primary {
            try run(
                "pg_basebackup", "-D", data, "-R", "-X", "stream", "-c", "fast", "--no-sync", "-h", primary.folder.path,
                "-p", "\(primary.port)", "-U", user)
        } else {
            try run("initdb", "-D", data, "-U", user, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
            // Network connections need a password.
            try write(
                "local all all trust\nlocal replication all trust\nhost all all 127.0.0.1/32 scram-sha-256\n",
                to: data + "/pg_hba.conf")
        }
        try startGuardian()
        try start()
    }

    private var data: String { folder.path + "/data" }

    private func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }

    // MARK: Starting and stopping

    public func start() throws {
        let options =
            "-k '\(folder.path)' -p \(port) -c listen_addresses=127.0.0.1 -c fsync=off -c full_page_writes=off "
            + "-c synchronous_commit=\(isDurable ? "on" : "off") -c max_connections=60 -c shared_buffers=32MB -c autovacuum=off "
            + "-c deadlock_timeout=100ms -c wal_level=replica"
        try run("pg_ctl", "-D", data, "-w", "-t", "60", "-l", folder.path + "/log", "-o", options, "start")
    }

    /// - Parameter mode: `fast`, or `immediate`, which clients see as a crash.
    public func stop(mode: String = "immediate") throws { try run("pg_ctl", "-D", data, "-w", "-m", mode, "stop") }

    /// Ends the server like `kill -9`: its first process ends at once, and its children notice that.
    public func kill() throws {
        let file = URL(fileURLWithPath: data + "/postmaster.pid")
        let text = try String(contentsOf: file, encoding: .utf8)
        guard let process = text.split(separator: "\n").first.flatMap({ pid_t($0) }), process > 1,
            Self.kill(process) == 0
        else { throw Failure(description: "the server has no process") }
        // The next server cannot start while a process still uses the shared memory.
        eventually("the server's processes have ended") { !Self.isRunning(process) && !hasProcesses }
        // The process may remain as a zombie. The next server would mistake it for a running one because of this file
        // and the one of the socket.
        try FileManager.default.removeItem(at: file)
        try? FileManager.default.removeItem(atPath: folder.path + "/.s.PGSQL.\(port).lock")
    }

    private static func kill(_ process: pid_t) -> Int32 { Glibc.kill(process, SIGKILL) }

    /// True if a process has the server's folder as its working directory.
    private var hasProcesses: Bool {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return all.contains { name in
            guard Int(name) != nil else { return false }
            return (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(name)/cwd")) == data
        }
    }

    private static func isRunning(_ process: pid_t) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return false }
        return text.split(separator: ")").last?.hasPrefix(" Z") == false
    }

    /// Makes a replica a primary, which accepts changes.
    public func promote() throws { try run("pg_ctl", "-D", data, "-w", "-t", "60", "promote") }

    private func startGuardian() throws {
        let stop = (prefix + [programs.path + "/pg_ctl", "-D", data, "-m", "immediate", "stop"])
            .map { "'\($0)'" }.joined(separator: " ")
        let script =
            "trap '' INT TERM HUP QUIT; cat >/dev/null; cd /; \(stop) >/dev/null 2>&1; "
            + "rm -rf '\(folder.path)' '\(folder.path).out'"
        _ = fcntl(lifeline.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        // Its parent ends at once and is waited for. A zombie would keep the monitor of exit tests busy for ever.
        let parent = try Self.spawn(
            ["setsid", "--fork", "sh", "-c", script], input: lifeline.fileHandleForReading.fileDescriptor,
            output: "/dev/null")
        Self.wait(for: parent)
    }

    /// Runs one of the server's programs as the server's user.
    private func run(_ program: String, _ arguments: String...) throws {
        let log = folder.path + ".out"
        defer { unlink(log) }
        let process = try Self.spawn(
            prefix + [programs.appendingPathComponent(program).path] + arguments, input: nil, output: log)
        guard Self.wait(for: process) == 0 else {
            throw Failure(
                description: "\(program) failed: \((try? String(contentsOfFile: log, encoding: .utf8)) ?? "")")
        }
    }

    @discardableResult static func wait(for process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return status
    }

    /// Starts a program without waiting. Foundation's `Process` would wait for all descendants, among them the server.
    static func spawn(_ arguments: [String], input: Int32?, output: String) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        var words = (["env", "-C", "/"] + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var process: pid_t = 0
        let status = ChildProgram.startAlone { posix_spawnp(&process, "/usr/bin/env", &actions, nil, &words, nil) }
        guard status == 0 else {
            throw Failure(description: "\(arguments[0]) cannot be run")
        }
        return process
    }

    /// Returns a port on which nothing listens now.
    static func freePort() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else { throw Failure(description: "there is no free port") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    // MARK: TLS

    public static var makesCertificates: Bool { access("/usr/bin/openssl", X_OK) == 0 }

    /// Makes the server offer TLS on the network, with a self-signed certificate for `localhost`.
    ///
    /// - Returns: The certificate, which a client can trust.
    public func offerTLS() throws -> URL {
        let certificate = folder.appendingPathComponent("server.crt")
        let key = folder.appendingPathComponent("server.key")
        let made = try ChildProgram(
            URL(fileURLWithPath: "/usr/bin/openssl"),
            [
                "req", "-new", "-x509", "-days", "2", "-nodes", "-newkey", "rsa:2048", "-subj", "/CN=localhost", "-out",
                certificate.path, "-keyout", key.path,
            ])
        guard made.status == 0 else { throw Failure(description: made.output) }
        chmod(key.path, 0o600)
        if getuid() == 0, let owner = getpwnam("postgres") ?? getpwnam("nobody") {
            for file in [certificate, key] { chown(file.path, owner.pointee.pw_uid, owner.pointee.pw_gid) }
        }
        try psql("ALTER SYSTEM SET ssl_cert_file = '\(certificate.path)'")
        try psql("ALTER SYSTEM SET ssl_key_file = '\(key.path)'")
        try psql("ALTER SYSTEM SET ssl = on")
        try psql("SELECT pg_reload_conf()")
        try eventually("the server speaks TLS") { try psql("SHOW ssl") == "on" }
        return certificate
    }

    // MARK: URLs

    /// URL of a store through the socket, as the superuser by default.
    public func url(schema: String? = nil, database: String = "postgres", user: String? = nil) -> URL {
        var text = "postgresql://\(user ?? self.user)@/\(database)?host=\(folder.path)&port=\(port)"
        if let schema { text += "&schema=\(Self.escaped(schema))" }
        return URL(string: text)!
    }

    /// URL of a store through the network, with a password.
    public func networkURL(schema: String? = nil, user: String, password: String) -> URL {
        let query = schema.map { "?schema=\(Self.escaped($0))" } ?? ""
        return URL(string: "postgresql://\(user):\(Self.escaped(password))@127.0.0.1:\(port)/postgres\(query)")!
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }

    /// Runs SQL with `psql` and returns its output without headings.
    ///
    /// - Parameter pooler: A pooler to connect through; nil for the server's socket.
    @discardableResult
    public func psql(
        _ sql: String, database: String = "postgres", at pooler: ConnectionPooler? = nil
    ) throws -> String {
        let arguments = [
            "-X", "-q", "-t", "-A", "-v", "ON_ERROR_STOP=1", "-h", pooler == nil ? folder.path : "127.0.0.1", "-p",
            "\(pooler?.port ?? port)", "-U", user, "-d", database, "-c", sql,
        ]
        let ended = try ChildProgram(programs.appendingPathComponent("psql"), arguments)
        guard ended.status == 0 else { throw Failure(description: ended.output) }
        return ended.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
