/// The app's topic, the times and the limits against which the options of a job or push are checked.
struct OptionRules {
    /// The app's own topic.
    let topic: String
    /// The present time in Unix seconds.
    let now: Int64
    /// The earliest sending time in Unix seconds.
    let start: Int64
    let limits: JobLimits
}

extension JobFields {
    /// The options of one push. An option that the push does not set has the value of the job's option.
    func options(overriding job: PushOptions, _ rules: OptionRules) throws(JobError) -> PushOptions {
        var options = job
        if let id = try collapseID() { options.collapseID = id }
        if let topic = try topic(job.pushType, ofApp: rules.topic) {
            options.topic = topic
            try checkTopic(options, ofApp: rules.topic, limits: rules.limits)
        }
        guard envelope[.ttl] != nil || envelope[.expiresAt] != nil else { return options }
        options.expiration = try expiration(
            job.pushType, now: rules.now, start: rules.start, longestWait: rules.limits.longestWait)
        options.deadline = options.expiration == 0 ? nil : options.expiration
        if let deadline = options.deadline, rules.start > rules.now, deadline <= rules.start,
            envelope[.expiresAt] != nil
        {
            throw error(
                .expiresAt,
                "\"\(name(.expiresAt))\" is not after \"deliver_at\"; the push would expire unsent")
        }
        return options
    }
}
