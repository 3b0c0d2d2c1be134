import Campaigns
import FarmHarness

extension Farm {
    /// Pushes a campaign as a producer does.
    func push(campaign: String) throws {
        try redis.client().run("RPUSH", "{pushfarm:demo}:campaigns", campaign)
    }

    /// Pushes a report of devices that are done, as a producer does.
    func push(done devices: [String], of campaign: String) throws {
        let ids = devices.map { "\"\($0)\"" }.joined(separator: ",")
        try redis.client().run(
            "RPUSH", "{pushfarm:demo}:done", #"{"campaign":"\#(campaign)","devices":[\#(ids)]}"#)
    }

    /// The record of a campaign; nil if there is none.
    func campaign(_ id: String) throws -> CampaignRecord? {
        let pairs = try redis.client().run("HGETALL", "{pushfarm:demo}:campaign:\(id)").pairs
        guard !pairs.isEmpty else { return nil }
        return CampaignRecord(
            fields: Dictionary(pairs.map { ($0.name.text ?? "", $0.value.bytes ?? []) }) { first, _ in first }
        )
    }

    /// Waits until a campaign has a final state, and returns its record.
    func finishedCampaign(_ id: String) async throws -> CampaignRecord {
        do {
            return try await eventually("campaign \(id) has ended", within: .seconds(120)) {
                let record = try campaign(id)
                return record?.state?.isFinal == true ? record : nil
            }
        } catch {
            throw Overdue(
                description:
                    "\(error): \(String(describing: try campaign(id)))\n\(coordinator.error.suffix(2000))"
            )
        }
    }
}
