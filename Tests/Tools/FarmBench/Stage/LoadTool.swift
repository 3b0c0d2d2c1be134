import APNs
import BenchKit
import FarmHarness
import Foundation
import OpenSSL

/// Runs h2load against a simulator, with the same requests as the farm, but with different tokens.
struct LoadTool {
    struct Outcome {
        /// Requests a second, from h2load's output.
        var rate = 0.0
        /// Processor time of h2load for each request, in microseconds.
        var own = 0.0
        /// Processor time of the simulator for each request, in microseconds.
        var gateway = 0.0
        var shareOfOthers = 0.0
        var broken: [String] = []
    }

    /// The number of tokens in h2load's list. If h2load makes more requests, it repeats the list.
    private static let tokens = 50_000

    private let gateway: Gateway
    private let cores: Cores
    private let folder: String
    private let headers: [String]
    /// The time that h2load needs to read its list of tokens.
    private var start = 0.0

    init(_ gateway: Gateway, _ cores: Cores, in folder: String, upTo requests: Int) async throws {
        (self.gateway, self.cores, self.folder) = (gateway, cores, folder)
        let started = gateway.started
        let key = try SigningKey(file: started.keyFile)
        let token = ProviderToken.make(
            keyID: started.keyID, teamID: started.team, issuedAt: Int64(Date.now.timeIntervalSince1970)
        ) { key.sign($0) }
        headers = [
            "authorization: bearer \(String(decoding: token, as: UTF8.self))",
            "apns-topic: \(started.bundle)",
            "apns-push-type: alert", "apns-priority: 10", "apns-id: 6f1c2f0e-92a3-4f0b-9d0b-3a3c2f7e5d10",
        ]
        var list: [UInt8] = []
        for place in 0..<min(Self.tokens, requests) {
            list += Array("\(started.gateway)/3/device/".utf8)
            BenchTokens.append(place, to: &list)
            list.append(UInt8(ascii: "\n"))
        }
        try Data(list).write(to: URL(fileURLWithPath: folder + "/uris"))
        try Data(BenchPayload.bytes).write(to: URL(fileURLWithPath: folder + "/payload"))
        start = try await run(1, connections: 1, streams: 1).time
    }

    func drive(_ requests: Int, connections: Int = 1, streams: Int = 1_000) async throws -> Outcome {
        let accepted = try gateway.counter("accepted")
        let before = CoreUse.now(of: cores)
        let gatewayBefore = ProcessTime.seconds(of: gateway.process.pid)
        let (text, time) = try await run(requests, connections: connections, streams: streams)
        let gatewayTime = ProcessTime.seconds(of: gateway.process.pid) - gatewayBefore
        let shareOfOthers = CoreUse.now(of: cores).shareOfOthers(since: before, ours: time + gatewayTime)
        guard let report = LoadReport(text) else { throw Overdue(description: "h2load says: \(text)") }
        var outcome = Outcome(
            rate: report.rate, own: (time - start) / Double(requests) * 1e6,
            gateway: gatewayTime / Double(requests) * 1e6, shareOfOthers: shareOfOthers)
        let arrived = try gateway.counter("accepted") - accepted
        if report.succeeded != requests || arrived != requests {
            outcome.broken.append("h2load: \(requests) wanted, \(report.succeeded) done, \(arrived) accepted")
        }
        return outcome
    }

    private func run(_ requests: Int, connections: Int, streams: Int) async throws -> (
        text: String, time: Double
    ) {
        let name = "h2load\(Int.random(in: 0..<1_000_000_000))"
        let child = try Child(
            name, "h2load",
            ["-n", "\(requests)", "-c", "\(connections)", "-m", "\(streams)", "-t", "1"]
                + ["-i", folder + "/uris", "-d", folder + "/payload"] + headers.flatMap { ["-H", $0] },
            in: folder)
        guard try await child.wait(within: .seconds(300)) == .exited(0) else {
            throw Overdue(description: "h2load: \(child.error)\(child.output)")
        }
        return (child.output, child.processorTime?.seconds ?? 0)
    }
}
