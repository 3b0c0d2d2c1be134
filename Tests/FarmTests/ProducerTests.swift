import FarmHarness
import Foundation
import Testing

/// The text of the example producers in docs/producers.
struct ProducerTests {
    @Test(arguments: ProducerProgram.allCases)
    func `each example producer knows the statuses and is linked`(_ producer: ProducerProgram) throws {
        let text = try producer.text
        for word in ["pushfarm_submit", "BUSY", "OK", "DUPLICATE", "REFUSED", "order-4711", "REDIS_URL"] {
            #expect(text.contains(word), "\(producer): \(word)")
        }
        #expect(try Repository.text(of: "docs/jobs.md").contains("(producers/\(producer.file))"))
    }
}

/// Runs the producers with the Redis clients of Debian. `make test-outside` installs these clients and runs this suite.
@Suite(.startsProcesses(limit: .seconds(300))) struct ProducerProgramTests {
    @Test(arguments: ProducerProgram.allCases)
    func `a producer waits while the backlog is full, and its job is delivered once`(
        _ producer: ProducerProgram
    ) async throws {
        let place = try FreePort.take().split(separator: ":").map(String.init)
        var options = Farm.Options()
        options.redisOptions = ["--port", place[1], "--bind", place[0], "--protected-mode", "no"]
        let farm = try await Farm(options)
        _ = try await farm.ready()
        let client = try farm.redis.client()
        let tokens = Tokens.make(20)
        try farm.folder.write(try producer.text, to: producer.file)
        func start(_ name: String) throws -> Child {
            try Child(
                name, "/bin/sh",
                ["-c", #"cd "$0" && exec "$@""#, farm.folder.path] + producer.command + tokens,
                environment: [
                    "PATH": "/usr/bin:/bin", "HOME": farm.folder.path, "GO111MODULE": "off",
                    "GOPATH": "/usr/share/gocode", "GOCACHE": farm.folder.path + "/go",
                    "NODE_PATH": "/usr/share/nodejs", "REDIS_URL": "redis://\(place[0]):\(place[1])",
                ], in: farm.folder.path)
        }
        if producer == .js {
            // Only Debian's Node searches the folder of Debian's modules. The link lets another Node find them.
            try FileManager.default.createSymbolicLink(
                atPath: farm.folder.path + "/node_modules", withDestinationPath: "/usr/share/nodejs")
        }
        try client.run("CONFIG", "SET", "maxmemory", "1")
        let first = try start("first")
        try await eventually("it is refused", within: .seconds(120)) {
            first.hasEnded ? true : try refusals(client) > 0
        }
        #expect(!first.hasEnded, "\(first.error)")
        // This cuts only the producer's connection, because the farm uses the Unix socket.
        for line in try (client.run("CLIENT", "LIST").text ?? "").split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.contains(where: { $0.hasPrefix("addr=127.") }),
                let id = words.first(where: { $0.hasPrefix("id=") })?.dropFirst(3)
            else { continue }
            _ = try? client.run("CLIENT", "KILL", "ID", String(id))
        }
        try client.run("CONFIG", "SET", "maxmemory", "0")
        #expect(try await first.wait() == .exited(0), "\(first.error)")
        #expect(try await farm.finished("order-4711").delivered == 20)
        // The test pushes the job a second time, as a producer does after a lost reply.
        let second = try start("second")
        #expect(try await second.wait(within: .seconds(120)) == .exited(0), "\(second.error)")
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: tokens) == 0 && ledger.lines.count == 20)
        #expect(try client.run("EXISTS", "pushfarm:demo").integer == 0)
        // An error about a missing password does not mean a lost connection, so the producer must not wait and retry.
        try client.run("CONFIG", "SET", "requirepass", "secret")
        let third = try start("third")
        let end = try await third.wait(within: .seconds(60))
        #expect(end != .exited(0) && (third.error + third.output).contains("uthentication"), "\(end)")
    }

    /// The number of FCALL commands that Redis has refused.
    private func refusals(_ client: BlockingRedisClient) throws -> Int {
        let statistics = try client.run("INFO", "commandstats").text ?? ""
        let calls = statistics.split(separator: "\r\n").first { $0.hasPrefix("cmdstat_fcall:") }
        return calls?.split(separator: ",").compactMap { word in
            word.hasPrefix("rejected_calls=") || word.hasPrefix("failed_calls=")
                ? Int(word.split(separator: "=")[1]) : nil
        }.reduce(0, +) ?? 0
    }
}

/// An example producer in docs/producers, with the command that runs it.
enum ProducerProgram: String, CaseIterable, CustomTestStringConvertible {
    case python, js, ruby, php, go

    var testDescription: String { rawValue }

    /// The name of the program's file in docs/producers.
    var file: String {
        switch self {
        case .python: "submit.py"
        case .js: "submit.mjs"
        case .ruby: "submit.rb"
        case .php: "submit.php"
        case .go: "submit.go"
        }
    }

    var text: String {
        get throws { try Repository.text(of: "docs/producers/" + file) }
    }

    /// The command that runs the program. The command uses Debian's interpreters even if other versions are installed.
    var command: [String] {
        switch self {
        case .python: ["/usr/bin/python3", file]
        case .js: ["/usr/bin/node", file]
        case .ruby: ["/usr/bin/ruby", file]
        case .php: ["/usr/bin/php", file]
        case .go: ["/usr/bin/go", "run", file]
        }
    }
}
