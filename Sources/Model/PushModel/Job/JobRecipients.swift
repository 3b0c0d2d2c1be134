/// The recipients of a job: tokens, users or devices that share one payload, or pushes with values, payloads and options.
struct JobRecipients {
    /// Either one payload that all pushes share, or the payload, values and options of each push.
    struct Content {
        /// The payload that all pushes share; nil if the payloads differ.
        var shared: Range<Int>?
        var details = PushDetails()
        /// The payloads to check for warnings.
        var samples: [Range<Int>] = []
        /// The users or devices whose tokens must be looked up; nil if the job has tokens.
        var recipients: NamedRecipients?
    }

    private static let need =
        "a job needs \"payload\" with \"tokens\", \"users\" or \"devices\", or it needs \"pushes\""

    private let fields: JobFields
    private let check: PayloadCheck
    private let options: PushOptions
    private let rules: OptionRules

    init(_ fields: JobFields, _ options: PushOptions, _ rules: OptionRules) {
        (self.fields, self.options, self.rules) = (fields, options, rules)
        check = PayloadCheck(fields.envelope.bytes, pushType: options.pushType, limits: rules.limits)
    }

    /// Reads the payloads of the job, and the field `pushes` if the job has it.
    ///
    /// - Parameter tokens: the tokens of the job's field `tokens`. The call adds the tokens of the field `pushes`.
    func content(_ tokens: inout TokenList) throws(JobError) -> Content {
        let given = JobField.recipients.filter { fields.envelope[$0] != nil }
        if given.count > 1 {
            throw fields.error(
                given[1],
                "\"\(given[0].name)\" and \"\(given[1].name)\" exclude each other; give one of them")
        }
        if let pushes = fields.envelope[.pushes] { return try own(pushes, &tokens) }
        if fields.envelope[.translations] != nil {
            throw fields.error(
                .translations, "\"translations\" needs \"pushes\", where each push may have a \"lang\"")
        }
        let shared = try payload()
        let recipients = try names()
        if recipients == nil { try checkTokens(tokens) }
        return Content(shared: shared, samples: [shared], recipients: recipients)
    }

    /// The users or devices of the job; nil if the job has neither field.
    private func names() throws(JobError) -> NamedRecipients? {
        let field: JobField = fields.envelope[.users] != nil ? .users : .devices
        guard let value = fields.envelope[field] else { return nil }
        guard value.kind == .array else {
            throw fields.error(field, mustBe: "an array of ids such as [\"u-7\"]")
        }
        var recipients = NamedRecipients(field == .users ? .users : .devices)
        let fault: JobError?
        do throws(JSONError) { fault = try read(value, field, into: &recipients) } catch {
            fault = JobError(
                field: field.name, position: error.position,
                reason: "the job is not valid JSON: \(error.description)")
        }
        if let fault { throw fault }
        guard !recipients.names.isEmpty else {
            throw fields.error(field, "\"\(field.name)\" is empty; a job needs at least one")
        }
        return try complete(recipients, at: value)
    }

    /// - Returns: the first element that is not a string, or that is one too many; nil if there is none.
    private func read(
        _ value: JobEnvelope.Value, _ field: JobField, into recipients: inout NamedRecipients
    ) throws(JSONError) -> JobError? {
        var scanner = JSONScanner(fields.envelope.bytes, position: value.range.lowerBound, depth: 1)
        try scanner.enterArray()
        while try scanner.nextElement() {
            let limit = rules.limits.tokens
            guard recipients.names.count < limit else {
                return JobError(
                    field: field.name, position: scanner.position,
                    reason: "a job may have at most \(limit) \(field.name); send the others in further jobs")
            }
            guard try scanner.kind() == .string else {
                let name = "\(field.name)[\(recipients.names.count)]"
                return JobError(
                    field: name, position: scanner.position, reason: "\"\(name)\" must be an id, as a string")
            }
            recipients.append(scanner.text(try scanner.string()))
        }
        return nil
    }

    /// - Parameter value: the array with the recipients.
    private func complete(
        _ recipients: NamedRecipients, at value: JobEnvelope.Value
    ) throws(JobError) -> NamedRecipients {
        if fields.envelope[.unknownRecipients] != nil {
            throw fields.error(
                .unknownRecipients, "the farm sets \"unknown_recipients\" when it looks up the recipients")
        }
        if fields.envelope[.capped] != nil {
            throw fields.error(
                .capped, "the farm sets \"capped\" when it applies the budget of background pushes")
        }
        if fields.envelope[.stored] != nil {
            throw fields.error(.stored, "the farm sets \"stored\" when it looks up the recipients")
        }
        var recipients = recipients
        recipients.field = fields.envelope.recipientsStart..<value.range.upperBound
        return recipients
    }

    /// The number of pushes that the farm left out, so that a job may have no push.
    private func omitted() throws(JobError) -> Int {
        let (unknown, capped) = (try fields.unknownRecipients(), try fields.capped() ?? 0)
        return unknown.adding(saturating: capped)
    }

    private func checkTokens(_ tokens: TokenList) throws(JobError) {
        guard let value = fields.envelope[.tokens] else {
            throw fields.error(
                .tokens, "\"tokens\" is missing; \(Self.need)")
        }
        guard value.kind == .array else {
            throw fields.error(
                .tokens, "\"tokens\" must be an array of hex strings; this is \(value.kind.rawValue)")
        }
        let omitted = try omitted()
        guard tokens.submitted > 0 || omitted > 0 else {
            throw fields.error(.tokens, "\"tokens\" is empty; a job needs at least one token")
        }
    }

    private func payload() throws(JobError) -> Range<Int> {
        guard let value = fields.envelope[.payload] else {
            throw fields.error(
                .payload, "\"payload\" is missing; \(Self.need)")
        }
        guard value.kind == .object else { throw fields.error(.payload, mustBe: "a JSON object") }
        guard let (fault, position) = check.fault(of: value.range) else { return value.range }
        let reason =
            switch fault {
            case .payloadTooLarge(let bytes, _): check.reason(tooLarge: bytes)
            default: fault.reason
            }
        throw JobError(field: JobField.payload.name, position: position, reason: reason)
    }

    private func own(_ pushes: JobEnvelope.Value, _ tokens: inout TokenList) throws(JobError) -> Content {
        guard pushes.kind == .array else {
            throw fields.error(
                .pushes, mustBe: "an array of objects such as {\"token\": \"…\", \"payload\": {…}}")
        }
        let templates = try JobTemplates.read(fields, check, names: rules.limits.placeholders)
        var reader = PushReader(fields.envelope.bytes, check, templates, options, rules)
        let error: JobError?
        do throws(JSONError) {
            error = try reader.readArray(at: pushes.range.lowerBound, &tokens)
        } catch let fault {
            error = JobError(
                field: JobField.pushes.name, position: fault.position,
                reason: "the job is not valid JSON: \(fault.description)")
        }
        if let error { throw error }
        let omitted = try omitted()
        guard tokens.submitted > 0 || omitted > 0 else {
            throw fields.error(.pushes, "\"pushes\" is empty; a job needs at least one push")
        }
        var content = reader.content
        content.recipients = try reader.recipients.map { (recipients) throws(JobError) in
            try complete(recipients, at: pushes)
        }
        return content
    }
}
