/// The fields of a campaign, named as in its JSON.
package enum CampaignField: String, CaseIterable, Sendable {
    case id, segment, list
    case payload, translations
    case pushType = "push_type"
    case priority, topic
    case collapseID = "collapse_id"
    case ttl
    case expiresAt = "expires_at"
    case lane, receipts, delivery
    case maxAttempts = "max_attempts"
    case startAt = "start_at"
    case window, zone, spread, rate, avoid, cohorts, stages
    case `repeat`, fallback
    case category, caps, quiet
    case stopAt = "stop_at"
    case merge
    case mergePriority = "merge_priority"
    case series, cron
    case variants, allocation, epsilon, temperature, explore, holdout

    /// The fields that a campaign passes to each of its jobs as they stand.
    package static let ofJob: [CampaignField] = [
        .pushType, .priority, .topic, .collapseID, .ttl, .expiresAt, .lane, .receipts, .delivery,
        .maxAttempts,
    ]
}
