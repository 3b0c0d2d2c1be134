/// Reads the array `pushes` of a job: each push's token or device, and its own payload or values and its own options.
struct PushReader {
    /// The fields of a push.
    private enum Field: CaseIterable {
        case token, device, payload, values, lang, collapseID, ttl, expiresAt, topic

        var name: StaticString {
            switch self {
            case .token: "token"
            case .device: "device"
            case .payload: "payload"
            case .values: "values"
            case .lang: "lang"
            case .collapseID: "collapse_id"
            case .ttl: "ttl"
            case .expiresAt: "expires_at"
            case .topic: "topic"
            }
        }

        /// The option of the job that this field of a push overrides; nil if this field is not an option.
        var option: JobField? {
            switch self {
            case .token, .device, .payload, .values, .lang: nil
            case .collapseID: .collapseID
            case .ttl: .ttl
            case .expiresAt: .expiresAt
            case .topic: .topic
            }
        }
    }

    /// The fields of one push, with values that are not checked yet. ``begin(at:)`` keeps the array's memory for the next push.
    private struct Parts {
        private(set) var start = 0
        /// `start` is the offset of the field's name.
        var given: [(field: Field, start: Int, kind: JSONKind, range: Range<Int>)] = []

        mutating func begin(at start: Int) {
            self.start = start
            given.removeAll(keepingCapacity: true)
        }

        subscript(field: Field) -> (kind: JSONKind, range: Range<Int>)? {
            given.first { $0.field == field }.map { ($0.kind, $0.range) }
        }

        /// The range of a field from its name to the end of its value.
        func member(_ field: Field) -> Range<Int>? {
            given.first { $0.field == field }.map { $0.start..<$0.range.upperBound }
        }
    }

    private let bytes: UnsafeRawBufferPointer
    private let check: PayloadCheck
    private let templates: JobTemplates?
    private let options: PushOptions
    private let rules: OptionRules
    private var details: PushDetails
    private var samples: [Range<Int>]
    private var parts = Parts()
    /// For each slot of the template, the range of the current push's value; nil if the push has no value for the slot.
    private var slots: [Range<Int>?] = []
    /// The devices of the pushes; nil if the pushes have tokens.
    private(set) var recipients: NamedRecipients?

    /// - Parameters:
    ///   - templates: the templates of the job's `payload` or `translations`; nil if each push has its own payload.
    ///   - options: the job's options.
    init(
        _ bytes: UnsafeRawBufferPointer, _ check: PayloadCheck, _ templates: JobTemplates?,
        _ options: PushOptions, _ rules: OptionRules
    ) {
        (self.bytes, self.check, self.templates) = (bytes, check, templates)
        (self.options, self.rules) = (options, rules)
        details = PushDetails(templates: templates?.templates.map(\.template) ?? [])
        samples = templates?.templates.map(\.source) ?? []
    }

    /// The payloads, values and options of all pushes that were read so far.
    var content: JobRecipients.Content {
        guard let templates, !details.hasOwnOptions, templates.templates.count == 1,
            templates.templates[0].isPlain
        else { return JobRecipients.Content(details: details, samples: samples) }
        return JobRecipients.Content(shared: templates.templates[0].source, samples: samples)
    }

    /// Reads the array at `position`. The array is known to be valid JSON.
    mutating func readArray(at position: Int, _ tokens: inout TokenList) throws(JSONError) -> JobError? {
        var scanner = JSONScanner(bytes, position: position, depth: 1)
        try scanner.enterArray()
        while try scanner.nextElement() {
            guard tokens.submitted < rules.limits.tokens else {
                return JobError(
                    field: "pushes", position: scanner.position,
                    reason:
                        "a job may have at most \(rules.limits.tokens) pushes; send the other pushes in further jobs"
                )
            }
            if let error = try readPush(&scanner, &tokens) { return error }
        }
        return nil
    }

    private mutating func readPush(
        _ scanner: inout JSONScanner, _ tokens: inout TokenList
    ) throws(JSONError) -> JobError? {
        let index = tokens.submitted
        guard try scanner.kind() == .object else {
            return error(
                index, nil, scanner.position, "must be an object such as {\"token\": \"…\", \"payload\": {…}}"
            )
        }
        parts.begin(at: scanner.position)
        try scanner.enterObject()
        while let key = try scanner.nextKey() {
            let known = Field.allCases.first { scanner.matches(key, $0.name) }
            guard let field = known, parts[field] == nil else {
                return wrong(index, key, scanner, isKnown: known != nil)
            }
            let kind = try scanner.kind()
            if let reason = fault(of: field, kind) {
                return error(index, field.name.description, scanner.position, reason)
            }
            parts.given.append((field, key.content.lowerBound - 1, kind, try scanner.skipValue()))
        }
        if let error = recipientFault(index) { return error }
        if templates == nil, parts[.payload] == nil {
            return error(index, "payload", parts.start, "is missing")
        }
        var detail = PushDetails.Detail()
        do throws(JobError) { detail.options = try ownOptions(index) } catch { return error }
        let malformed: MalformedPush.Fault?
        if let templates {
            if let error = try fill(&detail, templates, index) { return error }
            let size = templates.templates[detail.template].template.size(with: slots)
            malformed = size <= check.limit ? nil : .payloadTooLarge(bytes: size, limit: check.limit)
        } else {
            detail.payload = parts[.payload]?.range
            malformed = detail.payload.flatMap { check.fault(of: $0)?.fault }
        }
        if let token = parts[.token] {
            try add(detail, malformed, token: token.range, &tokens)
        } else if let device = parts[.device], let member = parts.member(.device) {
            var names = recipients ?? NamedRecipients(.devices)
            recipients = nil
            var text = JSONScanner(bytes, position: device.range.lowerBound, depth: 2)
            names.append(
                text.text(try text.string()),
                NamedRecipients.Push(range: parts.start..<scanner.position, device: member))
            recipients = names
            tokens.leaveOut()
        }
        return nil
    }

    /// Why the push's `token` and `device` are wrong; nil if the push has one of them, like all pushes before it.
    private func recipientFault(_ index: Int) -> JobError? {
        guard let device = parts[.device] else {
            guard parts[.token] != nil else {
                return error(index, "token", parts.start, "is missing; a push needs \"token\" or \"device\"")
            }
            guard recipients != nil else { return nil }
            return error(
                index, "device", parts.start, "is missing; the pushes before it have a device, not a token")
        }
        if parts[.token] != nil {
            return error(
                index, "device", device.range.lowerBound, "and the push's \"token\" exclude each other")
        }
        guard device.kind == .string else {
            return error(index, "device", device.range.lowerBound, "must be the id of a device, as a string")
        }
        guard index > 0, recipients == nil else { return nil }
        return error(index, "token", parts.start, "is missing; the pushes before it have a token")
    }

    /// Adds a push, or refuses its token because of a fault of the push.
    private mutating func add(
        _ detail: PushDetails.Detail, _ malformed: MalformedPush.Fault?, token: Range<Int>,
        _ tokens: inout TokenList
    ) throws(JSONError) {
        if let malformed {
            let isString = bytes[token.lowerBound] == UInt8(ascii: "\"")
            tokens.refuse(malformed, text: isString ? token.lowerBound + 1..<token.upperBound - 1 : token)
            return
        }
        let accepted = tokens.entries.count
        var scanner = JSONScanner(bytes, position: token.lowerBound, depth: 2)
        try tokens.readToken(&scanner)
        guard tokens.entries.count > accepted else { return }
        details.append(detail, slots: slots, of: bytes)
        if let payload = detail.payload, samples.count < PayloadWarning.mostChecked {
            samples.append(payload)
        }
    }

    /// Why a push of this job must not have the field, or must not have a value of this kind in the field; nil if allowed.
    private func fault(of field: Field, _ kind: JSONKind) -> String? {
        switch field {
        case .payload:
            if templates != nil {
                return "and the job's \"payload\" or \"translations\" exclude each other"
            }
            return kind == .object ? nil : "must be a JSON object"
        case .values:
            if templates == nil { return "needs a \"payload\" or \"translations\" in the job" }
            return kind == .object ? nil : "must be an object such as {\"name\": \"Ada\"}"
        case .lang:
            if templates?.hasLanguages != true { return "needs \"translations\" in the job" }
            return kind == .string ? nil : "must be a language such as \"de\" or \"pt-BR\""
        default: return nil
        }
    }

    /// The options of the push that is being read; nil if the push sets no option itself.
    private func ownOptions(_ index: Int) throws(JobError) -> PushOptions? {
        guard parts.given.contains(where: { $0.field.option != nil }) else { return nil }
        var envelope = JobEnvelope(ofPush: index, at: parts.start, bytes, limits: rules.limits)
        for part in parts.given {
            if let option = part.field.option { envelope.add(option, part.kind, part.range) }
        }
        return try JobFields(envelope).options(overriding: options, rules)
    }

    /// Chooses the push's template, and reads the values for its placeholders.
    private mutating func fill(
        _ detail: inout PushDetails.Detail, _ templates: JobTemplates, _ index: Int
    ) throws(JSONError) -> JobError? {
        var language: String?
        if let part = parts[.lang] {
            var scanner = JSONScanner(bytes, position: part.range.lowerBound, depth: 2)
            let text = try scanner.text(scanner.string())
            guard JobLimits.isLanguage(text) else {
                return error(
                    index, "lang", part.range.lowerBound, "must be a language such as \"de\" or \"pt-BR\"")
            }
            language = text
        }
        guard let number = templates.number(for: language) else {
            let reason = language.map { "is \"\($0)\", and \"translations\" has neither this language nor" }
            return error(
                index, "lang", parts[.lang]?.range.lowerBound ?? parts.start,
                (reason ?? "is missing, and \"translations\" has no") + " \"default\"")
        }
        let fault = try templates.templates[number].read(
            at: parts[.values]?.range.lowerBound, of: bytes, start: parts.start, into: &slots)
        if let fault {
            let name = fault.name.map { "values." + Excerpt.of($0) } ?? "values"
            return error(index, name, fault.position, fault.reason)
        }
        detail.template = number
        return nil
    }

    private func wrong(
        _ index: Int, _ key: JSONString, _ scanner: JSONScanner, isKnown: Bool
    ) -> JobError {
        let names = Field.allCases.map { "\"\($0.name)\"" }
        return error(
            index, Excerpt.of(scanner.text(key)), key.content.lowerBound - 1,
            isKnown
                ? "is given twice"
                : "is not known; a push has " + names.dropLast().joined(separator: ", ") + " and "
                    + (names.last ?? ""))
    }

    private func error(_ index: Int, _ name: String?, _ position: Int, _ reason: String) -> JobError {
        let field = "pushes[\(index)]" + (name.map { "." + $0 } ?? "")
        return JobError(field: field, position: position, reason: "\"\(field)\" \(reason)")
    }
}
