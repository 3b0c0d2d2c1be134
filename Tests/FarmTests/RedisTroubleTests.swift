import FarmHarness
import Foundation
import RESP
import Testing

extension BusyFarms {
    /// Redis goes away, or forgets what it may forget.
    struct RedisTroubleTests {
        @Test func `Redis killed and started again in the middle loses nothing`() async throws {
            let farm = try await Farm(Farm.Options(faults: ["latency 20ms", "streams 100"]))
            _ = try await farm.ready()
            let tokens = Tokens.make(3_000)
            let jobs = Job.several("r", tokens, size: 500)
            try farm.push(jobs)
            try await farm.gateway.requests(600)
            try await farm.redis.crash()
            let totals = try await farm.finished(jobs)
            #expect(totals.delivered == tokens.count && totals.failed == 0)
            let ledger = try farm.gateway.ledger()
            #expect(ledger.lost(of: tokens) == 0)
            // A process that is killed loses nothing that it has written: the machine still has it.
            #expect(ledger.doubles <= totals.maybeDuplicated)
            #expect(!farm.coordinator.hasEnded)
        }

        /// As after a power cut: what Redis has written last is gone, and it is started again with what is left.
        @Test func `Redis that comes back without its last moments is told them again`() async throws {
            let farm = try await Farm(Farm.Options(faults: ["latency 50ms", "streams 60"]))
            _ = try await farm.ready()
            let tokens = Tokens.make(4_000)
            let jobs = Job.several("b", tokens, size: 500)
            try farm.push(jobs)
            try await farm.gateway.requests(800)
            let kept = try Self.size(farm.redis.appendOnlyFile)
            try await farm.gateway.requests(2_000)
            try await farm.redis.kill()
            let file = farm.redis.appendOnlyFile
            #expect(try Self.size(file) > kept, "there is something to lose")
            let handle = try #require(FileHandle(forWritingAtPath: file))
            try handle.truncate(atOffset: kept)
            try handle.close()
            try await farm.redis.restart()
            let totals = try await farm.finished(jobs)
            #expect(totals.delivered == tokens.count && totals.failed == 0)
            let ledger = try farm.gateway.ledger()
            #expect(ledger.lost(of: tokens) == 0 && ledger.doubles == 0)
            #expect(!farm.coordinator.hasEnded)
        }

        private static func size(_ path: String) throws -> UInt64 {
            try FileManager.default.attributesOfItem(atPath: path)[.size] as? UInt64 ?? 0
        }

        @Test(arguments: [
            [["SCRIPT", "FLUSH"]], [["CLIENT", "KILL", "TYPE", "normal"]],
            [["CLIENT", "KILL", "TYPE", "pubsub"]],
            [
                ["SCRIPT", "FLUSH"], ["CLIENT", "KILL", "TYPE", "normal"],
                ["CLIENT", "KILL", "TYPE", "pubsub"],
            ],
        ])
        func `scripts and connections that are gone come back`(commands: [[String]]) async throws {
            let farm = try await Farm(Farm.Options(faults: ["latency 5ms"]))
            let tokens = Tokens.make(3_000)
            let jobs = Job.several("x", tokens, size: 250)
            for round in 0..<4 {
                try farm.push(Array(jobs[round * 3..<round * 3 + 3]))
                try await farm.gateway.requests(round * 750 + 200)
                for command in commands { try farm.redis.client().run(command + Self.skip(command)) }
            }
            let totals = try await farm.finished(jobs)
            #expect(totals.delivered == tokens.count && totals.failed == 0)
            let ledger = try farm.gateway.ledger()
            #expect(ledger.lost(of: tokens) == 0 && ledger.doubles == 0)
            #expect(!farm.coordinator.hasEnded)
        }

        /// What a farm that went through trouble owes: everything once, by the same coordinator, and few words about it.
        private func expectExactlyOnce(
            _ farm: Farm, _ jobs: [Job], sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            let totals = try await farm.finished(jobs, sourceLocation: sourceLocation)
            let count = jobs.reduce(0) { $0 + $1.tokens.count }
            #expect(totals.delivered == count && totals.failed == 0, sourceLocation: sourceLocation)
            #expect(totals.maybeDuplicated == 0, sourceLocation: sourceLocation)
            let ledger = try farm.gateway.ledger()
            #expect(
                ledger.lost(of: jobs.flatMap(\.tokens)) == 0 && ledger.doubles == 0,
                sourceLocation: sourceLocation)
            #expect(!farm.coordinator.hasEnded, sourceLocation: sourceLocation)
            let lines = farm.coordinator.error.split(separator: "\n").count
            #expect(lines < 100, "\(farm.coordinator.error.suffix(3000))", sourceLocation: sourceLocation)
        }

        @Test func `scripts and connections that go twenty times in a row are no matter`() async throws {
            let farm = try await Farm(Farm.Options(faults: ["latency 10ms", "streams 50"]))
            _ = try await farm.ready()
            let jobs = Job.several("y", Tokens.make(4_000), size: 200)
            for round in 0..<20 {
                try farm.push([jobs[round]])
                let client = try farm.redis.client()
                try client.run("SCRIPT", "FLUSH")
                if round.isMultiple(of: 2) {
                    try client.run("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
                }
                try client.run("CLIENT", "KILL", "TYPE", "pubsub")
                try await farm.gateway.requests(round * 200 + 20)
            }
            try await expectExactlyOnce(farm, jobs)
        }

        @Test func `a Redis that closes idle connections is no matter`() async throws {
            let farm = try await Farm(Farm.Options(faults: ["latency 5ms"]))
            _ = try await farm.ready()
            try farm.redis.client().run("CONFIG", "SET", "timeout", "1")
            let jobs = Job.several("i", Tokens.make(600), size: 200)
            for (round, job) in jobs.enumerated() {
                // Idle for longer than Redis bears.
                try await Task.sleep(for: .milliseconds(2_500))
                try farm.push([job])
                try await farm.gateway.requests((round + 1) * 200)
            }
            try await expectExactlyOnce(farm, jobs)
        }

        @Test func `a Redis that is made a replica and a master again is waited for`() async throws {
            let farm = try await Farm(Farm.Options(faults: ["latency 10ms", "streams 50"]))
            _ = try await farm.ready()
            let jobs = Job.several("m", Tokens.make(4_000), size: 500)
            try farm.push(jobs)
            for round in 0..<2 {
                try await farm.gateway.requests(400 + round * 1_000)
                let client = try farm.redis.client()
                // Nobody listens there: the data stay as they are, and writes get READONLY.
                try client.run("CONFIG", "SET", "replica-serve-stale-data", "yes")
                try client.run("REPLICAOF", "127.0.0.1", "1")
                try await Task.sleep(for: .seconds(3))
                try client.run("REPLICAOF", "NO", "ONE")
            }
            try await expectExactlyOnce(farm, jobs)
        }

        @Test(arguments: ["everysec", "always"])
        func `a Redis that is killed again and again loses nothing`(fsync: String) async throws {
            let farm = try await Farm(
                Farm.Options(
                    faults: ["latency 20ms", "streams 50"], redisOptions: ["--appendfsync", fsync]))
            _ = try await farm.ready()
            let jobs = Job.several("q", Tokens.make(4_500), size: 500)
            for round in 0..<3 {
                try farm.push(Array(jobs[round * 3..<round * 3 + 3]))
                try await farm.gateway.requests(round * 1_500 + 300)
                try await farm.redis.crash()
            }
            try await expectExactlyOnce(farm, jobs)
        }

        @Test func `a Redis that stands still stops the sending, and the same owner goes on`() async throws {
            // More than the workers hold: there is always something left to send.
            let farm = try await Farm(Farm.Options(faults: ["latency 20ms", "streams 20"]))
            _ = try await farm.ready()
            let jobs = Job.several("z", Tokens.make(12_000), size: 2_000)
            try farm.push(jobs)
            try await farm.gateway.requests(500)
            let before = try farm.redis.client().run("HGETALL", "{pushfarm:demo}:owners").fields
            farm.redis.process.signal(SIGSTOP)
            // Beyond the lease, by whichever clock.
            try await Task.sleep(for: .seconds(12))
            let reached = try farm.gateway.ledger().lines.count
            try await Task.sleep(for: .seconds(2))
            #expect(try farm.gateway.ledger().lines.count == reached, "nothing is sent without a lease")
            #expect(reached < 12_000)
            farm.redis.process.signal(SIGCONT)
            try await expectExactlyOnce(farm, jobs)
            let after = try farm.redis.client().run("HGETALL", "{pushfarm:demo}:owners").fields
            #expect(
                before.filter { !$0.key.hasPrefix("until") } == after.filter { !$0.key.hasPrefix("until") })
        }

        @Test(
            .enabled(if: SmallDisk.obstacle == nil, Comment(rawValue: SmallDisk.obstacle ?? "")),
            arguments: ["everysec", "always"])
        func `a full disk stops the farm until there is room again`(fsync: String) async throws {
            let disk = try SmallDisk()
            let farm = try await Farm(
                Farm.Options(
                    faults: ["latency 20ms", "streams 50"],
                    redisOptions: ["--dir", disk.path, "--appendfsync", fsync]))
            _ = try await farm.ready()
            let jobs = Job.several("d", Tokens.make(3_000), size: 500)
            try farm.push(jobs)
            try await farm.gateway.requests(500)
            try disk.fill()
            if fsync == "always" {
                // Redis cannot keep its promise, and ends.
                guard case .exited = try await farm.redis.process.wait() else {
                    throw Overdue(description: "killed")
                }
                disk.free()
                try await farm.redis.restart()
            } else {
                // Nothing is ours any more when there is room again.
                try await eventually("the leases run out", within: .seconds(40)) {
                    farm.coordinator.error.contains("leases have run out")
                }
                #expect(throws: RESPServerError.self) { try farm.redis.client().run("SET", "probe", "x") }
                disk.free()
            }
            try await expectExactlyOnce(farm, jobs)
            _ = disk
        }

        private static func skip(_ command: [String]) -> [String] {
            command.first == "CLIENT" ? ["SKIPME", "yes"] : []
        }
    }
}
