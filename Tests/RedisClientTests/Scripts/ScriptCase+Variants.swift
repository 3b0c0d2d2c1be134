import PushModel

@testable import RedisClient
@testable import StoreProtocol

/// Cases of the scripts that count devices and rewards of a campaign's variants.
extension ScriptCase {
    static let variants = [
        ScriptCase("counts devices of a variant", again: .other("[0]")) { fixture in
            try fixture.runCampaign()
            return fixture.variantStep()
        },
        ScriptCase("counts devices of a variant for the series", again: .other("[0]")) { fixture in
            try fixture.runCampaign(resultsSeries: "s")
            return fixture.variantStep()
        },
        ScriptCase("counts first rewards", again: .other("0")) { fixture in
            try fixture.runCampaign()
            return MarkRewards(
                token: fixture.token, campaign: "c",
                chunks: [
                    (0, 0, [reward(1), reward(8, "rewards:b", 250), reward(1, "rewards:b", 9)]),
                    (3, 12, [reward(65_535, "rewards:@holdout", 0)]),
                ])
        },
        ScriptCase("counts first rewards for the series", again: .other("0")) { fixture in
            try fixture.runCampaign(resultsSeries: "s")
            return MarkRewards(token: fixture.token, campaign: "c", chunks: [(0, 0, [reward(1)])])
        },
        ScriptCase("counts no second reward of a device", again: .other("0")) { fixture in
            try fixture.runCampaign()
            let first = MarkRewards(
                token: fixture.token, campaign: "c", chunks: [(0, 0, [reward(1), reward(2)])])
            _ = try fixture.perform(first)
            return MarkRewards(token: fixture.token, campaign: "c", chunks: [(0, 0, [reward(2), reward(3)])])
        },
        ScriptCase("gives the bits of rewards the life of the campaign", again: .other("0")) { fixture in
            try fixture.runCampaign()
            try fixture.run(["EXPIRE", app + "campaign:c", "50"])
            return MarkRewards(token: fixture.token, campaign: "c", chunks: [(0, 0, [reward(1)])])
        },
        ScriptCase("replaces unreadable bits of rewards", again: .other("0")) { fixture in
            try fixture.runCampaign()
            try fixture.run(["RPUSH", app + "rewarded:c:00:0", "x"])
            return MarkRewards(token: fixture.token, campaign: "c", chunks: [(0, 0, [reward(1)])])
        },
        ScriptCase("counts no rewards of an unknown campaign", again: .same) { fixture in
            MarkRewards(token: fixture.token, campaign: "c", chunks: [(0, 0, [reward(1)])])
        },
    ]

    private static func reward(
        _ ordinal: Int, _ field: String = "rewards:a", _ thousandths: Int64 = 1000
    ) -> MarkRewards.Reward {
        MarkRewards.Reward(ordinal: ordinal, field: field, thousandths: thousandths)
    }
}

extension StoreFixture {
    fileprivate func runCampaign(resultsSeries series: String) throws {
        try createCampaign(isDraft: false)
        _ = try perform(
            ChangeCampaign.begin("c", token: token, name: "begin", fields: [("results_series", series)]))
    }

    fileprivate func variantStep() -> StoreCampaignStep {
        var request = campaignStep(1)
        request.counts += [("pulls:a", 2), ("pulls:@holdout", 1)]
        request.strings.append(.init(key: "assigned:c:00:0", bytes: [0, 1, 1]))
        return request
    }
}
