import ChildProgram
import Foundation
import Glibc
import TestSupport
import Testing

/// A PostgreSQL server of the tests' own: made in a temporary folder, reached by a socket there and by a free port of the
/// loopback interface, stopped and removed when this process ends, however that happens.
///
/// The server does not run as root: where the tests do, it runs as the user `postgres`, or as one without rights.
public final class PostgreSQLCluster: @unchecked Sendable {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    /// The one server of this process, made when it is asked for first; `nil` where PostgreSQL is not installed
    /// or tests of servers were not chosen.
    public static let shared: PostgreSQLCluster? = make()

    /// A server for one test, which may be stopped and started. It stays until this process ends.
    ///
    /// - Parameter isDurable: whether what was committed outlives a crash of the server.
    public static func make(isDurable: Bool = false) -> PostgreSQLCluster? {
        guard let programs = programs() else { return nil }
        do { return try PostgreSQLCluster(programs: programs, isDurable: isDurable) } catch {
            FileHandle.standardError.write(Data("No PostgreSQL server for the tests: \(error)\n".utf8))
            return nil
        }
    }

    /// Whether there is a server that the tests could start.
    public static var isInstalled: Bool { programs() != nil }

    /// A streaming replica of this server, which is running. It takes over when it is told to (``promote()``).
    public func makeReplica() throws -> PostgreSQLCluster {
        try PostgreSQLCluster(programs: programs, isDurable: isDurable, of: self)
    }

    public let folder: URL
    public let port: Int
    /// The superuser, who needs no password at the socket.
    public let user = "roster"
    private let programs: URL
    let prefix: [String]
    /// Closed by the system when this process ends: then the guardian stops the server.
    private let lifeline = Pipe()

    /// The folder of the newest server's programs.
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
            // By the network a password is needed.
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

    /// - Parameter mode: `fast`, or `immediate`, which is what a crash is to the clients.
    public func stop(mode: String = "immediate") throws { try run("pg_ctl", "-D", data, "-w", "-m", mode, "stop") }

    /// Ends the server as `kill -9` does: its first process is gone at once, and what it has started notices that.
    public func kill() throws {
        let file = URL(fileURLWithPath: data + "/postmaster.pid")
        let text = try String(contentsOf: file, encoding: .utf8)
        guard let process = text.split(separator: "\n").first.flatMap({ pid_t($0) }), process > 1,
            Self.kill(process) == 0
        else { throw Failure(description: "the server has no process") }
        // Nothing may be left that has its memory, or the next one does not start.
        eventually("the server's processes have ended") { !Self.isRunning(process) && !hasProcesses }
        // The process may be there still, as one whose parent has not asked for its end: the next one would take it for the server, by this
        // file and by the one beside the socket.
        try FileManager.default.removeItem(at: file)
        try? FileManager.default.removeItem(atPath: folder.path + "/.s.PGSQL.\(port).lock")
    }

    private static func kill(_ process: pid_t) -> Int32 { Glibc.kill(process, SIGKILL) }

    /// Whether a process works in the server's folder, as all that belong to it do.
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

    /// Makes a replica a server of its own, which takes changes.
    public func promote() throws { try run("pg_ctl", "-D", data, "-w", "-t", "60", "promote") }

    private func startGuardian() throws {
        let stop = (prefix + [programs.path + "/pg_ctl", "-D", data, "-m", "immediate", "stop"])
            .map { "'\($0)'" }.joined(separator: " ")
        let script =
            "trap '' INT TERM HUP QUIT; cat >/dev/null; cd /; \(stop) >/dev/null 2>&1; "
            + "rm -rf '\(folder.path)' '\(folder.path).out'"
        _ = fcntl(lifeline.fileHandleForWriting.fileDescriptor, F_SETFD, FD_CLOEXEC)
        // Its parent ends at once and is waited for: an ended guardian would keep the monitor of exit tests busy for good.
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

    /// Foundation's `Process` waits for all that its child has started, the server among them; this does not.
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

    /// A port that nothing listens at now.
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

    /// Has the server offer TLS by the network from now on, with a certificate of its own for `localhost`.
    ///
    /// - Returns: the certificate, which a client may trust.
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

    /// A store's URL by the socket, as the superuser.
    public func url(schema: String? = nil, database: String = "postgres", user: String? = nil) -> URL {
        var text = "postgresql://\(user ?? self.user)@/\(database)?host=\(folder.path)&port=\(port)"
        if let schema { text += "&schema=\(Self.escaped(schema))" }
        return URL(string: text)!
    }

    /// The same by the network, with a password.
    public func networkURL(schema: String? = nil, user: String, password: String) -> URL {
        let query = schema.map { "?schema=\(Self.escaped($0))" } ?? ""
        return URL(string: "postgresql://\(user):\(Self.escaped(password))@127.0.0.1:\(port)/postgres\(query)")!
    }

    private static func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }

    /// Runs SQL by `psql` and gives what it prints, without headings.
    ///
    /// - Parameter pooler: a pooler before the server to go through; `nil` for the server's socket.
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
