import PushModel
package import Scheduling

/// The payloads of the merged pushes of one step. Each set of campaigns that are due for some device has its own payload.
package struct MergedPayloads: Sendable {
    /// The maximum number of payloads: the maximum number of translations of a job.
    package static let most = 64

    /// The name of the merge group.
    package let group: String
    package let payloads: [[UInt8]]

    package init(group: MergeGroup, payloads: [[UInt8]]) {
        (self.group, self.payloads) = (group.name, payloads)
    }

    /// The payload with only the content of one campaign; nil for a campaign that is not merged.
    init?(only campaign: Campaign, id: String) {
        // The parser has checked the payload.
        guard let merge = campaign.merge, let group = try? MergeGroup(name: merge.name),
            let member = try? campaign.mergeMember(group, id: id, startedAt: UTCTime(milliseconds: 0))
        else { return nil }
        self.init(group: group, payloads: [group.payload(of: [member])])
    }

    /// The language under which a job has a payload: a job has one payload for each language, so a job can have all payloads of a
    /// step.
    static func language(ofPayload index: Int) -> String { "m\(index + 1)" }

    /// Whether each push must name its payload.
    var hasLanguages: Bool { payloads.count > 1 }

    /// Writes the payloads as fields of a job.
    func write(to text: inout JSONText) {
        guard hasLanguages else {
            return text.member(
                CampaignField.payload.rawValue, json: (payloads.first ?? Array("{}".utf8))[...])
        }
        text.key(CampaignField.translations.rawValue)
        text.object { text in
            for (index, payload) in payloads.enumerated() {
                text.member(Self.language(ofPayload: index), json: payload[...])
            }
        }
    }
}
