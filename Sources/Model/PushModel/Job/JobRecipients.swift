/// The recipients of a job: tokens that share one payload, or pushes with a payload each.
struct JobRecipients {
    private let fields: JobFields
    private let check: PayloadCheck
    private let limit: Int
    private var bytes: UnsafeRawBufferPointer { fields.envelope.bytes }

    init(_ fields: JobFields, pushType: PushType, limits: JobLimits) {
        self.fields = fields
        check = PayloadCheck(fields.envelope.bytes, pushType: pushType, limits: limits)
        limit = limits.tokens
    }

    /// The payload that all pushes share, or the payload of each accepted push.
    ///
    /// - Parameter tokens: the tokens of the field `tokens`; the tokens of `pushes` are added.
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
        var payloads: [Range<Int>] = []
        let error: JobError?
        do throws(JSONError) {
            error = try readPushes(at: pushes.range.lowerBound, &tokens, &payloads)
        } catch let fault {
            error = JobError(
                field: JobField.pushes.name, position: fault.position,
                reason: "the job is not valid JSON: \(fault.description)")
        }
        if let error { throw error }
        guard tokens.submitted > 0 else {
            throw fields.error(.pushes, "\"pushes\" is empty; a job needs at least one")
        }
        return payloads
    }

    /// Reads the array at `position`. The array is known to be valid JSON.
    private func readPushes(
        at position: Int, _ tokens: inout TokenList, _ payloads: inout [Range<Int>]
    ) throws(JSONError) -> JobError? {
        var scanner = JSONScanner(bytes, position: position, depth: 1)
        try scanner.enterArray()
        while try scanner.nextElement() {
            guard tokens.submitted < limit else {
                return JobError(
                    field: "pushes", position: scanner.position,
                    reason: "a job may have at most \(limit) pushes; send the other pushes in further jobs")
            }
            if let error = try readPush(&scanner, &tokens, &payloads) { return error }
        }
        return nil
    }

    private func readPush(
        _ scanner: inout JSONScanner, _ tokens: inout TokenList, _ payloads: inout [Range<Int>]
    ) throws(JSONError) -> JobError? {
        let start = scanner.position
        let index = tokens.submitted
        guard try scanner.kind() == .object else {
            return error(index, "", start, "must be an object such as {\"token\": \"…\", \"payload\": {…}}")
        }
        var token: Int?
        var payload: Range<Int>?
        try scanner.enterObject()
        while let key = try scanner.nextKey() {
            if scanner.matches(key, "token"), token == nil {
                token = scanner.position
                _ = try scanner.skipValue()
            } else if scanner.matches(key, "payload"), payload == nil {
                guard try scanner.kind() == .object else {
                    return error(index, ".payload", scanner.position, "must be a JSON object")
                }
                payload = try scanner.skipValue()
            } else {
                return wrong(index, key, scanner)
            }
        }
        guard let token else { return error(index, ".token", start, "is missing") }
        guard let payload else { return error(index, ".payload", start, "is missing") }
        var atToken = JSONScanner(bytes, position: token, depth: 2)
        if let fault = check.fault(of: payload) {
            let value = try atToken.skipValue()
            let isString = bytes[value.lowerBound] == UInt8(ascii: "\"")
            tokens.refuse(fault.fault, text: isString ? value.lowerBound + 1..<value.upperBound - 1 : value)
            return nil
        }
        let accepted = tokens.entries.count
        try tokens.readToken(&atToken)
        if tokens.entries.count > accepted { payloads.append(payload) }
        return nil
    }

    private func wrong(_ index: Int, _ key: JSONString, _ scanner: JSONScanner) -> JobError {
        let name = Excerpt.of(scanner.text(key))
        let isKnown = name == "token" || name == "payload"
        return error(
            index, "." + name, key.content.lowerBound - 1,
            isKnown ? "is given twice" : "is not known; a push has \"token\" and \"payload\"")
    }

    private func error(_ index: Int, _ path: String, _ position: Int, _ reason: String) -> JobError {
        let field = "pushes[\(index)]" + path
        return JobError(field: field, position: position, reason: "\"\(field)\" \(reason)")
    }
}
