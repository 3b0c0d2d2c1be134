/// Who gets what: the tokens of a job with its one payload, or its pushes with one each.
struct JobRecipients {
    private let fields: JobFields
    private let check: PayloadCheck
    private let limit: Int

    init(_ fields: JobFields, pushType: PushType, limits: JobLimits) {
        self.fields = fields
        check = PayloadCheck(fields.envelope.bytes, pushType: pushType, limits: limits)
        limit = limits.tokens
    }

    /// The payload that all share, or one for each accepted push.
    ///
    /// - Parameter tokens: those of the array `tokens`; those of `pushes` are added to it.
    func payloads(_ tokens: inout TokenList) throws(JobError) -> (shared: Range<Int>?, own: [Range<Int>]) {
        guard let pushes = fields.envelope[.pushes] else {
            let shared = try payload()
            try checkTokens(tokens)
            return (shared, [])
        }
        for field in [JobField.tokens, .payload] where fields.envelope[field] != nil {
            throw fields.error(
                field,
                "\"pushes\" and \"\(field.name)\" exclude each other; give \"pushes\", or \"tokens\" and "
                    + "\"payload\""
            )
        }
        return (nil, try own(pushes, &tokens))
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
            throw fields.error(.tokens, "\"tokens\" is empty; a job needs at least one")
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
            case .payloadTooLarge(let bytes, let limit):
                "the payload has \(bytes) bytes; push_type \"\(check.pushType.name)\" allows at most \(limit)"
            default: fault.reason
            }
        throw JobError(field: JobField.payload.name, position: position, reason: reason)
    }

    private func own(_ pushes: JobEnvelope.Value, _ tokens: inout TokenList) throws(JobError) -> [Range<Int>]
    {
        guard pushes.kind == .array else {
            throw fields.error(
                .pushes, mustBe: "an array of objects such as {\"token\": \"…\", \"payload\": {…}}")
        }
        var list = PushList(fields.envelope.bytes, limit: limit, check: check)
        let error: JobError?
        do throws(JSONError) {
            error = try list.read(at: pushes.range.lowerBound, into: &tokens)
        } catch let fault {
            error = JobError(
                field: JobField.pushes.name, position: fault.position,
                reason: "the job is not valid JSON: \(fault.description)")
        }
        if let error { throw error }
        guard tokens.submitted > 0 else {
            throw fields.error(.pushes, "\"pushes\" is empty; a job needs at least one")
        }
        return list.payloads
    }
}
