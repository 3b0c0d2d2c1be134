import FarmHarness
import Foundation
import RedisProtocol

/// A farm of two hosts with one Redis and one simulator.
final class DrillFarm {
    private let farm: Farm
    private static let hosts = ["alpha", "beta"]

    var redis: RedisServer { farm.redis }
    var gateway: Gateway { farm.gateway }

    init() async throws {
        farm = try await Farm(
            hosts: Self.hosts, Farm.Options(redisOptions: ["--auto-aof-rewrite-min-size", "256mb"]))
        for host in Self.hosts { try start(host) }
        try await shared(by: Self.hosts)
    }

    func start(_ host: String) throws { try farm.start(host) }

    /// The host's current coordinator, which may be a successor.
    func coordinator(_ host: String) throws -> pid_t {
        let line = try redis.client().run("HGET", "{pushfarm}:hosts", host).text ?? ""
        guard let start = line.range(of: #""pid":"#),
            let pid = pid_t(line[start.upperBound...].prefix { $0.isNumber })
        else { throw Overdue(description: "no host \(host)") }
        return pid
    }

    func signal(_ host: String, _ number: Int32) throws { kill(try coordinator(host), number) }

    /// Kills all processes of a host, as a power failure does.
    func destroy(_ host: String) { farm.coordinator(host).destroy() }

    /// Waits until these hosts own equal numbers of shards; a host may own one shard more than its equal part.
    func shared(by hosts: [String]) async throws {
        try await eventually("the shards are shared by \(hosts)", within: .seconds(60)) {
            var shares: [String: Int] = [:]
            for (field, token) in try redis.client().run("HGETALL", "{pushfarm:demo}:owners").fields
            where !field.hasPrefix("until:") {
                let host =
                    token.split(separator: ":", omittingEmptySubsequences: false).last.map(String.init) ?? ""
                shares[host, default: 0] += field == "intake" ? 0 : 1
            }
            let even = 64 / hosts.count
            return hosts.allSatisfy { (even...even + 1).contains(shares[$0] ?? 0) }
        }
    }

    /// Runs a `pushfarm` command until it ends.
    func run(_ arguments: [String]) async throws -> (status: Int32, text: String) {
        let result = try await farm.run(arguments, on: "alpha", within: .seconds(300))
        return (result.status, result.output + result.error)
    }

    /// Waits until these jobs are finished.
    /// - Returns: the number of possibly duplicated pushes.
    func finished(_ jobs: [String]) async throws -> Int {
        let client = try redis.client()
        let states = { try client.pipeline(jobs.map { ["HGET", "{pushfarm:demo}:job:\($0)", "state"] }) }
        try await eventually("\(jobs.count) jobs are finished", within: .seconds(120)) {
            try states().allSatisfy { $0.text == "finished" }
        }
        let doubles = try client.pipeline(
            jobs.map { ["HGET", "{pushfarm:demo}:job:\($0)", "maybe_duplicated"] })
        return doubles.reduce(0) { $0 + (Int($1.text ?? "") ?? 0) }
    }

    var logs: String { Self.hosts.map(farm.log).joined() }
}

// MARK: Jobs beside the load

extension DrillFarm {
    /// The token numbers of the extra job `number`.
    static func extra(_ number: Int) -> Range<UInt64> {
        let start = UInt64(1 + number) << 40
        return start..<start + 60_000
    }

    /// Pushes an extra job.
    /// - Returns: its id.
    func pushExtra(_ number: Int, fields: String = "") throws -> String {
        let id = "extra-\(number)"
        let tokens = Self.extra(number).map { DrillTokens.hex($0) }
        try redis.client().run("RPUSH", "pushfarm:demo", Job(id: id, tokens: tokens, fields: fields).text)
        return id
    }

    /// Waits until a count of a job record reaches a value.
    func jobRecord(of id: String, has field: String, atLeast least: Int) async throws {
        let client = try redis.client()
        try await eventually("\(field) of \(id)") {
            Int(try client.run("HGET", "{pushfarm:demo}:job:\(id)", field).text ?? "") ?? 0 >= least
        }
    }

    func number(of id: String, _ field: String) throws -> Int {
        Int(try redis.client().run("HGET", "{pushfarm:demo}:job:\(id)", field).text ?? "") ?? 0
    }

    func latestJob() throws -> String {
        try redis.client().run("ZREVRANGE", "{pushfarm:demo}:jobs", "0", "0").array?.first?.text ?? ""
    }

    /// A token that the load will use within a few seconds.
    var comingToken: String {
        get throws {
            let latest = try latestJob().split(separator: "-").last.flatMap { UInt64($0) } ?? 0
            return DrillTokens.hex(latest + 60_000)
        }
    }

    /// Runs a command that must succeed.
    /// - Throws: the command's error.
    func must(_ arguments: [String]) async throws {
        let result = try await run(arguments)
        guard result.status == 0 else {
            throw DrillFailure("\(arguments.joined(separator: " ")): status \(result.status): \(result.text)")
        }
    }
}
