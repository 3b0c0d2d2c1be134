import ChaosChecker
import FarmHarness
import Foundation
import RedisProtocol

/// Stored devices and campaigns, as a producer makes them. A producer that gets no reply pushes again: a repeated device input
/// changes nothing, and a repeated campaign is refused because its id exists.
extension Stage {
    /// Pushes inputs that register a device for each token.
    func register(_ tokens: ArraySlice<String>) async throws {
        try await pushUntilAccepted(["RPUSH", "{pushfarm:demo}:devices"] + tokens.map { Self.input($0) })
    }

    /// Registers a device for each token with the command `devices import`. The first runs are killed, and Redis is killed during
    /// the next. Then the command is repeated until it has imported the whole file.
    func importDevices(_ tokens: ArraySlice<String>) async throws {
        let lines = tokens.map { Self.input($0) + "\n" }
        let path = folder.path + "/devices-\(tokens.startIndex).ndjson"
        try Data(lines.joined().utf8).write(to: URL(fileURLWithPath: path))
        for run in 0..<60 {
            // The import waits while the list has as many inputs as `--backlog` says. So the first runs are killed in the middle.
            let command = try begin(["devices", "import", path, "--app", "demo", "--backlog", "100"])
            if run < 3 { try await pause(.milliseconds(Int.random(in: 100...400, using: &random))) }
            if run < 2 { await fault("kill import") { command.signal(SIGKILL) } }
            if run == 2 { try await fault("kill Redis") { try await redis.crash() } }
            if try await command.wait() == .exited(0) { return }
        }
        complain("the import of \(path) does not end")
    }

    /// Pushes inputs that remove the devices of tokens.
    func remove(_ tokens: ArraySlice<String>) async throws {
        let inputs = tokens.map { #"{"id":"\#(Self.device($0))","remove":true}"# }
        try await pushUntilAccepted(["RPUSH", "{pushfarm:demo}:devices"] + inputs)
    }

    /// Reports the devices of tokens as done with a campaign, and waits until the intake has noted the report.
    ///
    /// - Returns: false if the campaign has ended, or may have begun its second round before the intake noted the report.
    func report(done tokens: ArraySlice<String>, of campaign: String) async throws -> Bool {
        let ids = tokens.map { #""\#(Self.device($0))""# }.joined(separator: ",")
        try await pushUntilAccepted([
            "RPUSH", "{pushfarm:demo}:done", #"{"campaign":"\#(campaign)","devices":[\#(ids)]}"#,
        ])
        try await finished(["done", "done_taken"])
        guard let redis = try? await PlainRedis(redis.socket),
            let record = try? await redis.call(["HGETALL", "{pushfarm:demo}:campaign:\(campaign)"]).fields
        else { return false }
        return record["state"] == "running" && Int(record["accepted:2"] ?? "0") == 0
    }

    /// Waits until the intake has finished all device inputs.
    func registered() async throws { try await finished(["devices", "devices_taken"]) }

    func finished(_ lists: [String]) async throws {
        try await eventually("\(lists[0]) are finished", within: .seconds(60)) {
            guard let redis = try? await PlainRedis(self.redis.socket),
                let replies = try? await redis.call(lists.map { ["LLEN", "{pushfarm:demo}:\($0)"] })
            else { return false }
            return replies.allSatisfy { $0.integer == 0 }
        }
    }

    static func device(_ token: String) -> String { "d-" + token.prefix(16) }

    private static func input(_ token: String) -> String {
        #"{"id":"\#(device(token))","token":"\#(token)","zone":"Etc/UTC"}"#
    }

    /// Starts a campaign to all stored devices.
    ///
    /// - Parameter fields: the JSON members beside id, audience, payload and collapse id.
    func start(_ campaign: CampaignNote, _ fields: String) async throws {
        try await create(
            campaign,
            #""collapse_id":"\#(campaign.id)","payload":{"aps":{"alert":"\#(campaign.id)"}},\#(fields)"#)
    }

    /// Starts a campaign to all stored devices.
    ///
    /// - Parameter fields: the JSON members beside id and audience.
    func create(_ campaign: CampaignNote, _ fields: String) async throws {
        campaigns.append(campaign)
        let text = #"{"id":"\#(campaign.id)","segment":"all",\#(fields)}"#
        try await pushUntilAccepted(["RPUSH", "{pushfarm:demo}:campaigns", text])
    }

    func pushUntilAccepted(_ words: [String]) async throws {
        try await eventually("Redis accepts \(words[1])", within: .seconds(30)) {
            guard let redis = try? await PlainRedis(self.redis.socket),
                let reply = try? await redis.call(words)
            else { return false }
            return reply.error == nil
        }
    }

    /// Reads the records of all campaigns.
    ///
    /// - Returns: false if Redis does not reply, or if a campaign has no final state.
    func readCampaigns() async -> Bool {
        guard let redis = try? await PlainRedis(redis.socket),
            let replies = try? await redis.call(
                campaigns.map { ["HGETALL", "{pushfarm:demo}:campaign:\($0.id)"] }, within: .seconds(5))
        else { return false }
        for (index, reply) in replies.enumerated() { campaigns[index].record = reply.fields }
        return campaigns.allSatisfy { ["finished", "cancelled", "refused"].contains($0.record["state"]) }
    }
}
