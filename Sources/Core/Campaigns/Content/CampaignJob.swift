package import PushModel
package import Scheduling

/// Writes the jobs of a campaign. A step of the campaign is such a job, so that pushes of campaigns and of jobs have the same
/// validation, templates, sizes and options.
package struct CampaignJob: Sendable {
    /// What the parser of jobs needs to know about the app.
    package struct Rules: Sendable {
        package let app: String
        /// The app's own topic.
        package let topic: String
        package let limits: JobLimits
        /// In Unix seconds.
        package let now: Int64

        package init(app: String, topic: String, limits: JobLimits, now: Int64) {
            (self.app, self.topic, self.limits, self.now) = (app, topic, limits, now)
        }
    }

    private let campaign: Campaign
    private let id: String
    private let job: String

    /// - Parameters:
    ///   - id: the id of the campaign.
    ///   - job: the id of the job; nil for the job of the campaign, which has the campaign's id.
    package init(_ campaign: Campaign, id: String, job: String? = nil) {
        (self.campaign, self.id, self.job) = (campaign, id, job ?? id)
    }

    /// Returns the text of a job for some devices.
    ///
    /// - Parameters:
    ///   - isFallback: whether the payload of `fallback` replaces the message.
    ///   - expiry: when the devices' window ends. The pushes expire at this time unless the campaign has `ttl` or `expires_at`.
    ///     Nil without a window.
    ///   - merged: the payloads of merged pushes; nil: each push has only the campaign's own content.
    package func text(
        for devices: [CampaignDevice], isFallback: Bool = false, expiry: UTCTime? = nil,
        merged: MergedPayloads? = nil
    ) -> [UInt8] {
        written(devices, isFallback: isFallback, expiry: expiry, merged: merged).text.bytes
    }

    private func written(
        _ devices: [CampaignDevice], isFallback: Bool, expiry: UTCTime?, merged: MergedPayloads? = nil
    ) -> WrittenJob {
        let merged = isFallback ? nil : merged ?? MergedPayloads(only: campaign, id: id)
        let content = campaign.content
        var job = WrittenJob(definition: campaign.definition)
        job.text.beginObject()
        job.text.member("id", self.job)
        if isFallback, let fallback = content.fallback {
            job.copy(.payload, fallback)
        } else if let merged {
            merged.write(to: &job.text)
        } else if content.variants.isEmpty {
            job.copy(content.message.field, content.message.range)
        } else {
            job.copy(variants: content.variants)
        }
        for option in content.options where !(isFallback && campaign.isBackgroundOption(option.field)) {
            job.copy(option.field, option.range)
        }
        if let expiry, !content.has(.ttl), !content.has(.expiresAt) {
            job.text.member(CampaignField.expiresAt.rawValue, max(1, expiry.seconds))
        }
        if let merged {
            job.text.member(CampaignField.collapseID.rawValue, merged.group)
        } else if campaign.schedule.repetition != nil, !content.has(.collapseID),
            id.utf8.count <= Self.longestCollapseID
        {
            job.text.member(CampaignField.collapseID.rawValue, id)
        }
        if let device = devices.first, device.hasStoredToken { job.text.member("stored", 1) }
        job.text.key("pushes")
        job.text.array { text in
            let hasLanguages = merged?.hasLanguages ?? hasLanguages(isFallback)
            for device in devices {
                switch device {
                case .stored(let device): Self.write(device, hasLanguages: hasLanguages, &text)
                case .row(let row): row.write(to: &text, hasLanguages: hasLanguages)
                }
            }
        }
        job.text.endObject()
        return job
    }

    /// The maximum length of `apns-collapse-id` in bytes.
    private static let longestCollapseID = 64

    /// Whether the job has translations, so that its pushes may have a language.
    private func hasLanguages(_ isFallback: Bool) -> Bool {
        (campaign.content.message.field == .translations || !campaign.content.variants.isEmpty)
            && !(isFallback && campaign.content.fallback != nil)
    }

    private static func write(_ device: CampaignDevice.Stored, hasLanguages: Bool, _ text: inout JSONText) {
        text.object { push in
            switch device.address {
            case .token(let token): push.member("token", Hexadecimal.text(of: token))
            case .id(let id): push.member("device", id)
            }
            if hasLanguages, let lang = device.lang { push.member("lang", lang) }
            guard !device.values.isEmpty else { return }
            push.member(
                "values",
                object: { values in
                    for (name, value) in device.values {
                        switch value {
                        case .text(let value): values.member(name, value)
                        case .json(let value): values.member(name, json: value)
                        }
                    }
                })
        }
    }
}

extension Campaign {
    /// Whether an option is only for the background pushes of the campaign, and not for its fallback, which is an alert push.
    fileprivate func isBackgroundOption(_ field: CampaignField) -> Bool {
        isBackground && (field == .pushType || field == .priority)
    }
}

extension CampaignJob {
    /// Checks the content of a campaign, by parsing a job for a made-up device that has an id and no other attribute. If the
    /// campaign has variants, the job has a made-up device for each of them. So translations need `default`, and placeholders
    /// except `{{id}}` need a default. A placeholder must have the name of an attribute.
    ///
    /// Rows of an uploaded list need not have an id. So in a campaign to a list, all placeholders need a default, and can have any
    /// name.
    ///
    /// - Returns: the lane of the campaign's job.
    /// - Throws: the first fault, with its field and position in the definition.
    @discardableResult
    package static func check(_ campaign: Campaign, rules: Rules) throws(CampaignError) -> Lane {
        let id = campaign.id ?? "campaign"
        var limits = rules.limits
        var lane = Lane.high
        var values: [(name: String, value: CampaignDevice.Value)] = [("id", .text("device"))]
        if case .list = campaign.audience {
            values = []
        } else {
            limits.placeholders = CampaignDevice.attributes
        }
        let devices = madeUpDevices(for: campaign.content, values)
        for isFallback in campaign.content.fallback == nil ? [false] : [false, true] {
            let job = CampaignJob(campaign, id: id).written(devices, isFallback: isFallback, expiry: nil)
            let parsed: ParsedJob
            do throws(JobError) {
                parsed = try JobParser.parse(
                    job.text.bytes, app: rules.app, topic: rules.topic, now: rules.now, limits: limits)
            } catch { throw job.refusal(error, isFallback: isFallback, id: campaign.id) }
            if let push = parsed.malformed.first {
                throw job.refusal(
                    JobError(field: "pushes[\(push.index)]", position: 0, reason: push.reason),
                    isFallback: isFallback,
                    id: campaign.id)
            }
            lane = parsed.lane
        }
        return lane
    }

    /// One device for each variant, so that each payload is checked; one device without variants.
    private static func madeUpDevices(
        for content: CampaignContent, _ values: [(name: String, value: CampaignDevice.Value)]
    ) -> [CampaignDevice] {
        (0..<max(1, content.variants.count)).map { index in
            CampaignDevice(
                token: [UInt8](repeating: 0, count: 31) + [UInt8(clamping: index)],
                lang: content.variants.isEmpty ? nil : CampaignVariants.language(ofVariant: index),
                values: values)
        }
    }
}
