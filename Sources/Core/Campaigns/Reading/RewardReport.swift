import PushModel
import Variants

/// A report of a device's reward: `{"campaign": "ed-1", "device": "d-1", "reward": 1}`.
package struct RewardReport: Hashable, Sendable {
    package let campaign: String
    /// The id of the device.
    package let device: String
    /// The reward in thousandths, 0...1000.
    package let thousandths: Int64

    /// The maximum length of a report in bytes.
    package static let longest = 4096

    /// Reads a report.
    /// - Throws: the first fault, with its field and position.
    package init(_ bytes: [UInt8]) throws(CampaignError) {
        let tree: JSONTree
        do throws(JSONError) { tree = try JSONTree(bytes) } catch {
            throw CampaignError(
                field: "reward", position: error.position,
                reason: "the reward is not valid JSON: \(error.description)")
        }
        let object = try FieldObject(
            FieldValue(name: "reward", tree: tree, bytes: bytes), path: "",
            names: ["campaign", "device", "reward"],
            mustBe: "a JSON object with \"campaign\", \"device\" and \"reward\"")
        campaign = try object.required("campaign", path: "").text(
            mustBe: CampaignIdentity.idRule, CampaignIdentity.isID)
        device = try object.required("device", path: "").text(mustBe: "the id of a device", { !$0.isEmpty })
        let reward = try object.required("reward", path: "")
        guard case .number(let number, _) = reward.tree.content, (0...1).contains(number) else {
            throw reward.error(mustBe: "a number from 0 to 1")
        }
        thousandths = RewardTally.thousandths(ofReward: number)
    }
}
