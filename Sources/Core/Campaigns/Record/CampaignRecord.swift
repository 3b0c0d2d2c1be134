package import Variants

/// The record of a campaign: the hash `campaign:ID` in the app's slot.
///
/// Times are Unix milliseconds. A field that is missing or cannot be read has its default, so that a record that a newer version
/// wrote can still be shown.
package struct CampaignRecord: Equatable, Sendable {
    /// The fields of the hash, beside the counts of ``CampaignCounts``.
    package enum Field: String, CaseIterable, Sendable {
        case state, definition
        case createdAt = "created_at"
        case createdBy = "created_by"
        case startsAt = "starts_at"
        case startedAt = "started_at"
        case finishedAt = "finished_at"
        case reason, step
        case lastStep = "did"
        case progress, list, rate, released, done, rewarded
        case resultsSeries = "results_series"
        case skipsExplore = "skips_explore"
        case audienceEnds = "audience_ends"
        /// The share of failed pushes above which the farm pauses the campaign, 0 to 1.
        case stopAt = "stop_at"
        case handledUntil = "handled_until"
        case run
        case runDue = "run_due"
        case runCreated = "run_created"
        /// The merge group, if pushes of the campaign have had content of other campaigns of the group.
        case carries
    }

    /// The last run of a recurring campaign.
    package struct LastRun: Equatable, Sendable {
        package let id: String
        /// When the run was due.
        package let due: Int64
        /// Whether the run's own record was created.
        package let isCreated: Bool
    }

    /// Nil if the record has no known state.
    package let state: CampaignState?
    package let definition: [UInt8]
    package let createdAt: Int64
    /// Who created the campaign: an operator, or nil for a producer.
    package let createdBy: String?
    /// When the first push is due; nil before the start.
    package let startsAt: Int64?
    /// When an operator, a producer or the schedule started the campaign.
    package let startedAt: Int64?
    package let finishedAt: Int64?
    /// Why the campaign was refused or cancelled.
    package let reason: String?
    /// The number of the last step; 0 before the first step.
    package let step: Int
    /// The name of the last step; empty before the first step.
    package let lastStep: String
    /// What the run has done so far; nil before its first step.
    package let progress: CampaignProgress?
    /// For each partition, or for each group of a list, the first ordinal that is not in the audience. Empty before the start.
    package let audienceEnds: [Int]
    /// The unique name of the upload of the list to which the campaign sends; nil before the start, and for a segment.
    package let list: String?
    /// The pushes a second that an operator set; nil if the definition decides.
    package let rate: Double?
    /// The number of stages that operators released with `resume`.
    package let released: Int
    package let counts: CampaignCounts
    package let times: CampaignTimes
    /// The devices that reported that they are done.
    package let done: Int
    /// The devices whose first reward was counted.
    package let rewarded: Int

    /// The series whose results the campaign's variants use and extend; nil for a campaign without variants or without a series.
    package let resultsSeries: String?
    /// Whether the campaign explores no variants, because its series had enough results at the campaign's start.
    package let skipsExplore: Bool
    /// Up to which time the runs of a recurring campaign are handled; nil before the first decision.
    package let handledUntil: Int64?
    /// Nil before the first run of a recurring campaign.
    package let lastRun: LastRun?
    /// The fields with the numbers of variants, for `RewardTally`.
    package let variantFields: [String: [UInt8]]

    /// - Parameter fields: the fields of the hash and their values.
    package init(fields: [String: [UInt8]]) {
        func text(_ field: Field) -> String? {
            fields[field.rawValue].map { String(decoding: $0, as: UTF8.self) }
        }
        func time(_ field: Field) -> Int64? { text(field).flatMap { Int64(foreign: $0) }.map { max(0, $0) } }
        func number(_ field: Field) -> Int {
            text(field).flatMap { Int(foreign: $0) }.map { max(0, $0) } ?? 0
        }
        state = text(.state).flatMap(CampaignState.init)
        definition = fields[Field.definition.rawValue] ?? []
        createdAt = time(.createdAt) ?? 0
        createdBy = text(.createdBy)
        startsAt = time(.startsAt)
        startedAt = time(.startedAt)
        finishedAt = time(.finishedAt)
        reason = text(.reason)
        (step, lastStep) = (number(.step), text(.lastStep) ?? "")
        progress = fields[Field.progress.rawValue].flatMap(CampaignProgress.init(json:))
        audienceEnds = text(.audienceEnds).map(Self.audienceEnds) ?? []
        list = text(.list)
        rate = text(.rate).flatMap { $0.utf8.count <= 30 ? Double($0) : nil }.flatMap {
            $0 > 0 && $0.isFinite ? $0 : nil
        }
        released = number(.released)
        let texts = fields.lazy.map { ($0.key, String(decoding: $0.value, as: UTF8.self)) }
        (counts, times) = (CampaignCounts(fields: texts), CampaignTimes(fields: texts))
        (done, rewarded) = (number(.done), number(.rewarded))
        resultsSeries = text(.resultsSeries)
        skipsExplore = number(.skipsExplore) > 0
        handledUntil = time(.handledUntil)
        lastRun = text(.run).flatMap { id in
            time(.runDue).map { LastRun(id: id, due: $0, isCreated: text(.runCreated) == id) }
        }
        variantFields = fields.filter { RewardTally.isField($0.key) }
    }

    /// The results of the campaign's own variants.
    package func tally(of variants: CampaignVariants) -> RewardTally {
        RewardTally(variants: variants.names, fields: variantFields)
    }

    /// The number of devices that have a variant or are held out.
    package var assigned: Int { RewardTally.pulls(in: variantFields) }

    /// Reads the text of the field `audience_ends`: one number for each partition, separated by spaces. Empty if a number is wrong.
    package static func audienceEnds(_ text: String) -> [Int] {
        let words = text.split(separator: " ")
        let numbers = words.compactMap { Int(foreign: $0) }
        return words.count == numbers.count && words.count <= UploadedList.mostGroups
            ? numbers.map { max(0, $0) } : []
    }

    /// The text of the field `audience_ends`.
    package static func text(ofAudienceEnds ends: [Int]) -> String {
        ends.map(String.init).joined(separator: " ")
    }
}
