/// The recipients of a job: tokens that share one payload, or pushes with values, payloads and options.
struct JobRecipients {
    /// The payload that all pushes share, or each push's own payload, values and options.
    struct Content {
        /// The payload that all pushes share; nil if the payloads differ.
        var shared: Range<Int>?
        var details = PushDetails()
        /// The payloads to check for warnings.
        var samples: [Range<Int>] = []
    }

    private let fields: JobFields
    private let check: PayloadCheck
    private let options: PushOptions
    private let rules: OptionRules

    init(_ fields: JobFields, _ options: PushOptions, _ rules: OptionRules) {
        (self.fields, self.options, self.rules) = (fields, options, rules)
        check = PayloadCheck(fields.envelope.bytes, pushType: options.pushType, limits: rules.limits)
    }

    /// Reads the payloads of the job.
    ///
    /// - Parameter tokens: the tokens of the field `tokens`; the tokens of `pushes` are added.
    func content(_ tokens: inout TokenList) throws(JobError) -> Content {
        if let pushes = fields.envelope[.pushes] { return try own(pushes, &tokens) }
        if fields.envelope[.translations] != nil {
            throw fields.error(
                .translations, "\"translations\" needs \"pushes\", where each push may have a \"lang\"")
        }
        let shared = try payload()
        try checkTokens(tokens)
        return Content(shared: shared, samples: [shared])
    }

    private func checkTokens(_ tokens: TokenList) throws(JobError) {
        guard let value = fields.envelope[.tokens] else {
            throw fields.error(
                .tokens, "\"tokens\" is missing; a job needs \"tokens\" and \"payload\", or \"pushes\"")
        }
        guard value.kind == .array else {
            throw fields.error(
                .tokens, "\"tokens\" must be an array of hex strings; this is \(value.kind.rawValue)")
        }
        guard tokens.submitted > 0 else {
            throw fields.error(.tokens, "\"tokens\" is empty; a job needs at least one token")
        }
    }

    private func payload() throws(JobError) -> Range<Int> {
        guard let value = fields.envelope[.payload] else {
            throw fields.error(
                .payload, "\"payload\" is missing; a job needs \"tokens\" and \"payload\", or \"pushes\"")
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
        if fields.envelope[.tokens] != nil {
            throw fields.error(.tokens, "\"pushes\" and \"tokens\" exclude each other; give one of them")
        }
        guard pushes.kind == .array else {
            throw fields.error(
                .pushes, mustBe: "an array of objects such as {\"token\": \"…\", \"payload\": {…}}")
        }
        let templates = try JobTemplates.read(fields, check)
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
        guard tokens.submitted > 0 else {
            throw fields.error(.pushes, "\"pushes\" is empty; a job needs at least one push")
        }
        return reader.content
    }
}
