import PushModel

/// The largest push that a campaign can make, to tell before the start whether values may not fit.
package enum GreatestPush {
    /// The longest values of stored devices, in bytes.
    package static let storedValues: [(name: String, bytes: Int)] = CampaignDevice.attributes.map { name in
        (name, name == "id" || name == "user" ? 256 : 100)
    }

    /// Returns why a push with the longest values is not possible, in the first language or variant in which it is not; nil if all
    /// pushes are possible.
    ///
    /// The longest values need not belong to one device, so each real push may be smaller.
    ///
    /// - Parameters:
    ///   - longest: the size of the longest value of each name, in bytes.
    ///   - rules: as in `CampaignJob.check`, which must have accepted the campaign.
    package static func fault(
        in campaign: Campaign, longest: [(name: String, bytes: Int)], rules: CampaignJob.Rules
    ) -> String? {
        let values = longest.filter { $0.bytes > 0 }.map { name, bytes in
            (
                name: name,
                value: CampaignDevice.Value.text(String(repeating: "x", count: min(bytes, ListRow.mostBytes)))
            )
        }
        let devices = languages(of: campaign).enumerated().map { number, lang in
            CampaignDevice(
                token: [UInt8](repeating: 0, count: 31) + [UInt8(clamping: number)], lang: lang,
                values: values)
        }
        for isFallback in campaign.content.fallback == nil ? [false] : [false, true] {
            for device in devices {
                let text = CampaignJob(campaign, id: campaign.id ?? "campaign").text(
                    for: [device], isFallback: isFallback)
                do throws(JobError) {
                    let job = try JobParser.parse(
                        text, app: rules.app, topic: rules.topic, now: rules.now, limits: rules.limits)
                    if let push = job.malformed.first { return push.reason }
                } catch { return error.reason }
            }
        }
        return nil
    }

    /// The languages that choose each of the campaign's payloads.
    private static func languages(of campaign: Campaign) -> [String?] {
        let content = campaign.content
        guard content.variants.isEmpty else {
            return content.variants.indices.map { CampaignVariants.language(ofVariant: $0) }
        }
        guard content.message.field == .translations,
            let tree = try? JSONTree(Array(campaign.definition[content.message.range])),
            case .object(let members) = tree.content
        else { return [nil] }
        return members.map { $0.name == "default" ? nil : $0.name }
    }
}
