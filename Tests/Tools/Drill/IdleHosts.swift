import BenchKit
import FarmHarness
import Foundation
import RedisProtocol

/// Measures the load of idle hosts on Redis.
enum IdleHosts {
    /// Starts hosts with one worker each, waits until they are idle, and measures for twenty seconds.
    static func run(hosts: Int, shards: Int) async throws -> String {
        let names = (0..<hosts).map { "h\($0)" }
        let farm = try await Farm(
            hosts: names,
            Farm.Options(workers: 1, redisOptions: ["--maxclients", "10000"], lines: ["shards: \(shards)"]))
        let redis = farm.redis
        for name in names { try farm.start(name) }
        let client = try redis.client()
        try await eventually("\(hosts) hosts have their shards", within: .seconds(300)) {
            var shares: [String: Int] = [:]
            for (field, token) in try client.run("HGETALL", "{pushfarm:demo}:owners").fields
            where !field.hasPrefix("until:") && field != "intake" {
                shares[token.split(separator: ":").last.map(String.init) ?? "", default: 0] += 1
            }
            return shares.count == min(hosts, shards) && shares.values.reduce(0, +) == shards
                && (shares.values.max() ?? 0) - (shares.values.min() ?? 0) <= 1
        }
        let (before, calls) = (ProcessTime.seconds(of: redis.process.pid), try commands(client))
        try await Task.sleep(for: .seconds(20))
        let used = ProcessTime.seconds(of: redis.process.pid) - before
        return String(
            format: "%d hosts that rest, %d shards: Redis %.2f %% of a core, %d calls a second", hosts,
            shards,
            used / 20 * 100, (try commands(client) - calls) / 20)
    }

    private static func commands(_ client: BlockingRedisClient) throws -> Int {
        let text = try client.run("INFO", "stats").text ?? ""
        let line = text.split(whereSeparator: \.isNewline).first { $0.hasPrefix("total_commands_processed:") }
        return line.flatMap { Int($0.split(separator: ":")[1]) } ?? 0
    }
}
