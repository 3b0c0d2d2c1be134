import FarmHarness
import Foundation
import Testing

/// The example producers of docs/jobs.md, exactly as the page prints them.
struct ProducerTests {
    @Test(arguments: ProducerProgram.allCases)
    func `each example producer submits jobs and obeys a reply to wait`(_ producer: ProducerProgram) throws {
        let text = try producer.block
        for word in ["pushfarm_submit", "BUSY", "OK", "DUPLICATE", "REFUSED", "order-4711"] {
            #expect(text.contains(word), "\(producer): \(word)")
        }
        _ = try producer.files(host: "127.0.0.1", port: "1", tokens: ["aa"])
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
        for file in try producer.files(host: place[0], port: place[1], tokens: tokens) {
            try farm.folder.write(file.text, to: file.name)
        }
        if producer == .js {
            // Only Debian's Node searches the folder of Debian's modules. The link lets another Node find them.
            try FileManager.default.createSymbolicLink(
                atPath: farm.folder.path + "/node_modules", withDestinationPath: "/usr/share/nodejs")
        }
        try client.run("CONFIG", "SET", "maxmemory", "1")
        let first = try start(producer, "first", farm)
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
        let second = try start(producer, "second", farm)
        #expect(try await second.wait(within: .seconds(120)) == .exited(0), "\(second.error)")
        let ledger = try farm.gateway.ledger()
        #expect(ledger.lost(of: tokens) == 0 && ledger.lines.count == 20)
        #expect(try client.run("EXISTS", "pushfarm:demo").integer == 0)
        // An error about a missing password does not mean a lost connection, so the producer must not wait and retry.
        try client.run("CONFIG", "SET", "requirepass", "secret")
        let third = try start(producer, "third", farm)
        let end = try await third.wait(within: .seconds(60))
        #expect(end != .exited(0) && (third.error + third.output).contains("uthentication"), "\(end)")
    }

    private func start(_ producer: ProducerProgram, _ name: String, _ farm: Farm) throws -> Child {
        let command = producer.command
        return try Child(
            name, "/bin/sh", ["-c", #"cd "$0" && exec "$@""#, farm.folder.path] + command,
            environment: [
                "PATH": "/usr/bin:/bin", "HOME": farm.folder.path, "GO111MODULE": "off",
                "GOPATH": "/usr/share/gocode", "GOCACHE": farm.folder.path + "/go",
                "NODE_PATH": "/usr/share/nodejs",
            ], in: farm.folder.path)
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

/// An example producer of the page, with the command that runs it.
enum ProducerProgram: String, CaseIterable, CustomTestStringConvertible {
    case python, js, ruby, php, go

    var testDescription: String { rawValue }

    /// The program as printed on the page.
    var block: String {
        get throws { try Page("docs/jobs.md").block(below: "## Producers", rawValue) }
    }

    /// The command that runs the program. The command uses Debian's interpreters even if other versions are installed.
    var command: [String] {
        switch self {
        case .python: ["/usr/bin/python3", "producer.py"]
        case .js: ["/usr/bin/node", "producer.mjs"]
        case .ruby: ["/usr/bin/ruby", "producer.rb"]
        case .php: ["/usr/bin/php", "producer.php"]
        case .go: ["/usr/bin/go", "run", "producer.go", "tokens.go"]
        }
    }

    /// The page's program with the test's tokens and Redis address, as files.
    func files(host: String, port: String, tokens: [String]) throws -> [(name: String, text: String)] {
        let list = tokens.description
        switch self {
        case .python:
            let call = #"redis.Redis(host="\#(host)", port=\#(port), "#
            return [("producer.py", "tokens = \(list)\n" + (try text("redis.Redis(", call)))]
        case .js:
            let call = #"createClient({ socket: { host: "\#(host)", port: \#(port) } })"#
            // The test adds a line that closes the connection. Without this line the program of the page does not exit.
            return [
                (
                    "producer.mjs",
                    "const tokens = \(list);\n" + (try text("createClient()", call))
                        + "\nawait farm.quit();\n"
                )
            ]
        case .ruby:
            let call = #"Redis.new(host: "\#(host)", port: \#(port))"#
            return [("producer.rb", "tokens = \(list)\n" + (try text("Redis.new", call)))]
        case .php:
            let call = "connect('\(host)', \(port))"
            return [
                ("producer.php", "<?php\n$tokens = \(list);\n" + (try text("connect('127.0.0.1')", call)))
            ]
        case .go:
            let values = tokens.map { "\"\($0)\"" }.joined(separator: ", ")
            return [
                ("producer.go", try text("127.0.0.1:6379", "\(host):\(port)")),
                ("tokens.go", "package main\n\nvar tokens = []string{\(values)}\n"),
            ]
        }
    }

    /// Returns the page's program with the address `other` instead of `address`. The program must contain `address` exactly once.
    private func text(_ address: String, _ other: String) throws -> String {
        let parts = try block.components(separatedBy: address)
        guard parts.count == 2 else {
            throw Page.Missing(description: "\(address) is not there once in \(self)")
        }
        return parts.joined(separator: other)
    }
}
