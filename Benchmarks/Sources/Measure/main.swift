import Foundation

// Prints the figures of RESULTS.md: workloads of the framework and of raw SQLite in the same run.
// usage: Measure [WORKLOAD…] [--count N] [--sections M] [--rounds R]
//        Measure N [M [R]]            all workloads
// The workloads server and writers need the trait PostgreSQL and a server: Benchmarks/server starts one and runs them.

do {
    let options = try Options(Array(CommandLine.arguments.dropFirst()))
    #if PostgreSQL
        if let writer = options.writer {
            try writer.run()
            exit(0)
        }
    #endif
    if let part = options.followPart {
        try part.run()
    } else if let child = options.child {
        try child.run()
    } else if let filling = options.filling {
        try filling.run(options)
    } else {
        try Suite(options: options).run()
    }
} catch {
    FileHandle.standardError.write(Data("Measure: \(error)\n".utf8))
    exit(1)
}
