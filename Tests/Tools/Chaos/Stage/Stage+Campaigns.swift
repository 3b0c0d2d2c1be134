import ChaosChecker
import FarmHarness
import RedisProtocol

/// Stored devices and campaigns, as a producer makes them. A producer that gets no reply pushes again: a repeated device input
/// changes nothing, and a repeated campaign is refused because its id exists.
extension Stage {
    /// Pushes inputs that register a device for each token.
    func register(_ tokens: ArraySlice<String>) async throws {
        let inputs = tokens.map { #"{"id":"d-\#($0.prefix(16))","token":"\#($0)","zone":"Etc/UTC"}"# }
        try await pushUntilAccepted(["RPUSH", "{pushfarm:demo}:devices"] + inputs)
    }

    /// Waits until the intake has finished all device inputs.
    func registered() async throws {
        try await eventually("all device inputs are finished", within: .seconds(60)) {
            let redis = try await PlainRedis(self.redis.socket)
            let replies = try await redis.call(
                ["devices", "devices_taken"].map { ["LLEN", "{pushfarm:demo}:\($0)"] })
            return replies.allSatisfy { $0.integer == 0 }
        }
    }

    /// Starts a campaign to all stored devices.
    ///
    /// - Parameter fields: the JSON members beside id, audience, payload and collapse id.
    func start(_ campaign: CampaignNote, _ fields: String) async throws {
        campaigns.append(campaign)
        let text =
            #"{"id":"\#(campaign.id)","segment":"all","collapse_id":"\#(campaign.id)","#
            + #""payload":{"aps":{"alert":"\#(campaign.id)"}},\#(fields)}"#
        try await pushUntilAccepted(["RPUSH", "{pushfarm:demo}:campaigns", text])
    }

    private func pushUntilAccepted(_ words: [String]) async throws {
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
