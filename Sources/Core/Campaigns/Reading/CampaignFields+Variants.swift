import PushModel
import Scheduling
import Variants

/// The fields that divide the audience among variants of the message.
extension CampaignFields {
    func variants() throws(CampaignError) -> CampaignVariants? {
        for field in [CampaignField.allocation, .epsilon, .temperature, .explore, .holdout] {
            try require(field, of: .variants)
        }
        guard let value = self[.variants] else { return nil }
        for field in [CampaignField.translations, .fallback] {
            try exclude(field, .variants)
        }
        var variants: [CampaignVariants.Variant] = []
        let what = "objects such as {\"name\": \"short\", \"payload\": {…}}"
        for element in try value.elements(atMost: CampaignVariants.counts.upperBound, of: what) {
            let variant = try variant(element)
            guard !variants.contains(where: { $0.name == variant.name }) else {
                throw element.error("\"\(element.name).name\" is the name of an earlier variant")
            }
            variants.append(variant)
        }
        guard CampaignVariants.counts.contains(variants.count) else {
            throw value.error("\"variants\" needs at least \(CampaignVariants.counts.lowerBound) variants")
        }
        return CampaignVariants(
            variants: variants,
            policy: LearningPolicy(allocation: try allocation(), exploration: try exploration()),
            holdout: try holdout())
    }

    private func variant(_ value: FieldValue) throws(CampaignError) -> CampaignVariants.Variant {
        let path = value.name + "."
        let object = try FieldObject(
            value, path: path, names: ["name", "payload"],
            mustBe: "an object such as {\"name\": \"short\", \"payload\": {…}}")
        let name = try object.required("name", path: path)
            .text(mustBe: CampaignIdentity.nameRule, CampaignIdentity.isName)
        let payload = try object.required("payload", path: path)
        guard payload.tree.kind == .object else { throw payload.error(mustBe: "a JSON object") }
        return CampaignVariants.Variant(name: name, payload: payload.tree.range)
    }

    private func allocation() throws(CampaignError) -> Allocation {
        let names = ["even", "epsilon-greedy", "softmax", "thompson"]
        let name = try self[.allocation]?.word(among: names) ?? "even"
        if name != "epsilon-greedy", let epsilon = self[.epsilon] {
            throw epsilon.error("\"epsilon\" needs \"allocation\": \"epsilon-greedy\"")
        }
        if name != "softmax", let temperature = self[.temperature] {
            throw temperature.error("\"temperature\" needs \"allocation\": \"softmax\"")
        }
        switch name {
        case "epsilon-greedy":
            guard let epsilon = self[.epsilon] else { return .epsilonGreedy(epsilon: 0.1) }
            return .epsilonGreedy(
                epsilon: try epsilon.number(above: 0, upTo: 1, mustBe: "a number above 0 and up to 1"))
        case "softmax":
            guard let temperature = self[.temperature] else { return .softmax(temperature: 0.1) }
            return .softmax(
                temperature: try temperature.number(
                    above: 0, upTo: 1000, mustBe: "a number above 0 and up to 1000"))
        case "thompson": return .thompson
        default: return .even
        }
    }

    private func exploration() throws(CampaignError) -> LearningPolicy.Exploration? {
        guard let value = self[.explore] else { return nil }
        try exclude(.stages, .explore)
        let object = try FieldObject(
            value, path: "explore.", names: ["share", "wait"],
            mustBe: "an object such as {\"share\": \"5 %\", \"wait\": \"30m\"}")
        let part = try object.required("share", path: "explore.")
        let share = try part.share()
        guard share < 1 else { throw part.error(mustBe: "a share below 100 %") }
        return LearningPolicy.Exploration(
            share: share,
            wait: try object.required("wait", path: "explore.").duration(
                in: 0...CampaignSchedule.longest, mustBe: "a duration up to 31 days like \"30m\""))
    }

    private func holdout() throws(CampaignError) -> Double {
        guard let value = self[.holdout] else { return 0 }
        let share = try value.share()
        guard share < 1 else { throw value.error(mustBe: "a share below 100 %") }
        return share
    }
}
