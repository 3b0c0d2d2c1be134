import Campaigns
import EventLoop
import Logging
import PushModel
import Scheduling
import StoreProtocol

/// Creates campaigns from the inputs of producers.
@Loop struct CampaignCreator {
    let services: CampaignServices
    let runner: CampaignRunner

    /// Applies one input. Applying the same input again changes nothing.
    ///
    /// - Parameters:
    ///   - step: the number of the step that finishes the input.
    ///   - index: the input's index in the step.
    /// - Returns: why the input is refused; nil if it is not refused.
    func handle(_ input: [UInt8], step: Int, index: Int) async throws(StoreError) -> FinishInputs.Refusal? {
        if case .changed(let id) = CampaignInput(input) {
            try await runner.read(id)
            return nil
        }
        func refusal(_ error: CampaignError) -> FinishInputs.Refusal {
            FinishInputs.Refusal(
                index: index, subject: error.id, field: error.field, position: error.position,
                reason: error.reason)
        }
        let campaign: Campaign
        do throws(CampaignError) { campaign = try await parse(input) } catch { return refusal(error) }
        if let error = try await audienceError(campaign) { return refusal(error) }
        guard runner.count < CampaignRunner.mostCampaigns else {
            return refusal(
                CampaignError(
                    field: CampaignError.whole, position: 0,
                    reason: "the app has \(runner.count) campaigns that wait or run; more are not accepted",
                    id: campaign.id))
        }
        // An input that is applied again must create the same campaign.
        let id =
            campaign.id ?? "campaign-\(step)-\(String(XXH64.hash(input, seed: UInt64(index)), radix: 36))"
        let change = ChangeCampaign.create(
            id, token: services.token, name: "input \(step).\(index)", isDraft: false,
            fields: [
                (CampaignRecord.Field.definition.rawValue, String(decoding: input, as: UTF8.self)),
                ("lane", Self.lane(of: campaign)),
            ])
        let isNew: Bool
        do throws(StoreError) {
            if case .done = try await services.perform(change) { isNew = true } else { isNew = false }
        } catch {
            guard case .exists = error else { throw error }
            return refusal(
                CampaignError(
                    field: CampaignField.id.rawValue, position: 0,
                    reason: "a job with this id is open, or came within the last 24 hours", id: id))
        }
        guard isNew else {
            return refusal(
                CampaignError(
                    field: CampaignField.id.rawValue, position: 0,
                    reason: "a campaign with this id exists", id: id))
        }
        try await runner.read(id)
        return nil
    }

    private func parse(_ input: [UInt8]) async throws(CampaignError) -> Campaign {
        do throws(ZoneError) { try services.zones.check() } catch {
            throw CampaignError(field: CampaignField.zone.rawValue, position: 0, reason: "\(error)")
        }
        let rules = CampaignJob.Rules(
            app: services.setup.name, topic: services.setup.topic, limits: services.jobLimits,
            now: services.now.seconds)
        let result: Result<Campaign, CampaignError> = await services.working {
            Result { () throws(CampaignError) in
                let campaign = try CampaignParser(zones: services.zones.find).parse(input)
                try CampaignJob.check(campaign, rules: rules)
                return campaign
            }
        }
        return try result.get()
    }

    private func audienceError(_ campaign: Campaign) async throws(StoreError) -> CampaignError? {
        let result = try await services.retrying("read the audience of a campaign") { () throws(StoreError) in
            try await services.audience.audience(campaign.audience, version: nil)
        }
        guard case .failure(let trouble) = result else { return nil }
        let field: CampaignField = if case .list = campaign.audience { .list } else { .segment }
        return CampaignError(
            field: field.rawValue, position: 0, reason: "\(trouble)", id: campaign.id)
    }

    static func lane(of campaign: Campaign) -> String {
        campaign.content.options.contains { option in
            option.field == .lane && campaign.definition[option.range].elementsEqual(#""bulk""#.utf8)
        } ? Lane.bulk.name : Lane.high.name
    }
}
