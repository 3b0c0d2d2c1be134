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

    /// The fields that this version reads and checks, but cannot carry out. A campaign with one of these fields is refused, so
    /// that no field is ignored silently. To support a field, remove it from this list.
    package static let unsupported: [CampaignField] = [.merge, .mergePriority]

    /// The words by which an error names an unsupported field.
    package var isUnsupportedText: String { "\"\(rawValue)\" is not supported yet" }
}
