package import Scheduling
package import Segments

/// A campaign as its author defined it: one message to an audience under a schedule.
///
/// ``CampaignParser`` creates it from JSON. All values are checked.
package struct Campaign: Sendable {
    /// Whom the campaign addresses.
    package enum Audience: Hashable, Sendable {
        /// A saved segment with this name. The runner reads its expression when it sends a chunk.
        case saved(String)
        /// The devices of an expression.
        case expression(SegmentExpression)
        /// An uploaded list with this name.
        case list(String)

        package var isList: Bool { if case .list = self { true } else { false } }
    }

    /// The definition, as its author wrote it.
    package let definition: [UInt8]
    /// 1 to 64 characters; nil if the farm must create an id.
    package let id: String?
    package let audience: Audience
    package let content: CampaignContent
    package let schedule: CampaignSchedule
    /// The zone of devices without a zone, and of a date without a window. A name of tzdata.
    package let defaultZone: String
    /// Campaigns of one series give a device the same stage and cohort; nil if the campaign is in no series.
    package let series: String?
    package let limits: CampaignLimits
    package let merge: CampaignMerge?
    package let recurrence: CronExpression?
    package let variants: CampaignVariants?

    /// The text from which, together with a device's place, stage and cohort are computed: the series or else the id.
    /// - Parameter id: the campaign's id.
    package func salt(id: String) -> String { series ?? id }

    /// Whether the pushes are background pushes. The pushes with the payload of `fallback` are alert pushes.
    package var isBackground: Bool { content.isBackground(definition) }

    /// Whether the devices of a stage explore the variants evenly. The exploration is the first stage of the first round.
    package func isExploring(round: Int, stage: Int) -> Bool {
        variants?.policy.exploration != nil && !schedule.stages.isEmpty && round == 1 && stage == 0
    }

    /// The campaign without the exploration of its variants, because earlier campaigns of the series have explored them.
    package func withoutExploration() -> Campaign {
        guard variants?.policy.exploration != nil else { return self }
        return Campaign(
            definition: definition, id: id, audience: audience, content: content,
            schedule: schedule.withoutStages, defaultZone: defaultZone, series: series, limits: limits,
            merge: merge, recurrence: recurrence, variants: variants)
    }

    /// The campaign with all durations of its schedule divided by a factor of 1 or more.
    package func divided(by factor: Double) -> Campaign {
        Campaign(
            definition: definition, id: id, audience: audience, content: content,
            schedule: schedule.divided(by: factor), defaultZone: defaultZone, series: series, limits: limits,
            merge: merge, recurrence: recurrence, variants: variants)
    }
}
