import PushModel

extension FuzzTarget {
    private static let now: Int64 = 1_780_000_000

    /// A job in an inbox, as producers in any language may write it.
    static let job = FuzzTarget(
        "job",
        words: [
            "\"tokens\":[", "\"payload\":{", "\"aps\":{", "\"pushes\":[{", "\"token\":\"", "\"id\":\"",
            "\"app\":\"demo\"",
            "\"push_type\":\"", "\"background\"", "\"voip\"", "\"pushtotalk\"", "\"liveactivity\"",
            "\"priority\":5",
            "\"ttl\":", "\"expires_at\":", "\"collapse_id\":\"", "\"topic\":\"", "\"lane\":\"bulk\"",
            "\"deliver_at\":",
            "\"receipts\":\"all\"", "\"delivery\":\"at-most-once\"", "\"max_attempts\":",
            "\"registered_at\":",
            "\"alert\":1", "\"badge\":1", "1780000100", "0123456789abcdef", "00FC13adff785122", "\\u00e9",
            "\\ud83d\\ude00",
            "\"users\":[\"", "\"devices\":[", "\"device\":\"", "\"unknown_recipients\":", "\"capped\":",
            "\"translations\":{", "\"values\":{\"n\":", "\"lang\":\"de\"", "{{n}}", "{{n|", "\"{{=n}}\"",
            "{{{{", "}}",
            "\\\"", "1e5", "-0", "null", "true", "{}", "[]", "],", "},", "\":", "\u{e9}", "\u{1f600}",
        ]
    ) { bytes throws(Violation) in
        let job: ParsedJob
        do throws(JobError) {
            job = try JobParser.parse(bytes, app: "demo", topic: "com.example.demo", now: now)
        } catch {
            return try checkRefusal(error, of: bytes)
        }
        if let recipients = job.recipients { return try checkNames(recipients, of: job) }
        try checkCounts(of: job)
        if let text = try ReferenceJSON(accepted: bytes) { try checkAgainst(text, job) }
        try checkBatch(of: job)
    }

    private static func checkRefusal(_ error: JobError, of bytes: [UInt8]) throws(Violation) {
        try Violation.unless((0...bytes.count).contains(error.position), "the place lies outside: \(error)")
        try Violation.unless(!error.reason.isEmpty && !error.field.isEmpty, "says nothing: \(error)")
        let words = error.field.utf8.split { !isHexDigit($0) } + error.reason.utf8.split { !isHexDigit($0) }
        try Violation.unless(words.allSatisfy { $0.count <= 40 }, "a token is in the words: \(error)")
        try Violation.unless(error.description.utf8.count < 1000, "too many words: \(error)")
        if let id = error.id { try Violation.unless(isProperID(id), "an id that no job has: \(id)") }
    }

    /// Checks that a job with users or devices becomes a valid job with tokens.
    private static func checkNames(_ recipients: NamedRecipients, of job: ParsedJob) throws(Violation) {
        try Violation.unless(job.accepted == 0 && !recipients.names.isEmpty, "names and tokens")
        let tokens = recipients.names.indices.map { number in
            (0..<number % 3).map { [UInt8](repeating: UInt8($0), count: 8 + number % 9) }
        }
        let text = recipients.job(job.raw, tokens: tokens)
        let found: ParsedJob
        do throws(JobError) {
            found = try JobParser.parse(text, app: "demo", topic: "com.example.demo", now: now)
        } catch { throw Violation("the job with tokens is refused: \(error)") }
        var options = job.options
        options.isStored = true
        try Violation.unless(
            found.recipients == nil && found.options == options && found.id == job.id
                && found.submitted == tokens.reduce(0) { $0 + $1.count }
                && found.unknownRecipients == tokens.count(where: \.isEmpty), "another job with tokens")
        try checkBatch(of: found)
    }

    private static func checkCounts(of job: ParsedJob) throws(Violation) {
        try Violation.unless(
            job.submitted == job.accepted + job.duplicates + job.malformed.count
                && (job.submitted > 0 || job.unknownRecipients > 0 || (job.capped ?? 0) > 0),
            "the counts do not add up")
        try Violation.unless(job.id.map(isProperID) ?? true, "an improper id")
        var last = -1
        for push in job.pushes {
            try Violation.unless(JobLimits.tokenBytes.contains(push.token.count), "a token of another length")
            try Violation.unless(Int(push.index) > last && Int(push.index) < job.submitted, "out of order")
            last = Int(push.index)
        }
        for push in job.malformed {
            try Violation.unless(
                job.text(of: push).utf8.count <= 600, "too much of a malformed token is kept")
        }
        try Violation.unless(
            Set(job.pushes.map { job.tokenBytes[$0.token] }).count == job.accepted, "a token twice")
    }

    private static func checkAgainst(_ text: ReferenceJSON, _ job: ParsedJob) throws(Violation) {
        try Violation.unless(text["id"]?.string == job.id, "another id")
        try Violation.unless(
            text["priority"].map { $0.integer == Int(job.options.priority) } ?? true, "another priority")
        try Violation.unless(
            text["max_attempts"].map { $0.integer == Int(job.options.maxAttempts) } ?? true, "other attempts")
        try Violation.unless(text["collapse_id"]?.string == job.options.collapseID, "another collapse id")
        try Violation.unless(text["topic"]?.string == job.options.topic, "another topic")
        if let shared = text["payload"], let range = job.payload, text["pushes"] == nil {
            try Violation.unless(shared == ReferenceJSON(Array(job.raw[range])), "another payload")
            let tokens = text["tokens"]?.elements ?? []
            try Violation.unless(tokens.count == job.submitted, "another number of tokens")
            var seen: Set<[UInt8]> = []
            let wanted = tokens.compactMap { $0.string.flatMap(token(ofHex:)) }.filter {
                seen.insert($0).inserted
            }
            try Violation.unless(wanted == job.pushes.map { Array(job.tokenBytes[$0.token]) }, "other tokens")
        } else if job.details.hasTemplates || job.payload != nil {
            let pushes = text["pushes"]?.elements ?? []
            try Violation.unless(pushes.count == job.submitted, "another number of pushes")
            for push in job.pushes {
                try Violation.unless(
                    pushes[Int(push.index)]["token"]?.string.flatMap(token(ofHex:))
                        == Array(job.tokenBytes[push.token]), "another token")
            }
        } else {
            let pushes = text["pushes"]?.elements ?? []
            try Violation.unless(pushes.count == job.submitted, "another number of pushes")
            for (number, push) in job.pushes.enumerated() {
                let wanted = pushes[Int(push.index)]
                try Violation.unless(
                    wanted["token"]?.string.flatMap(token(ofHex:)) == Array(job.tokenBytes[push.token]),
                    "another token")
                try Violation.unless(
                    wanted["payload"] == ReferenceJSON(Array(job.raw[job.payload(of: number)])),
                    "another payload")
            }
        }
    }

    /// Checks that an accepted job fits into a batch and is decoded from the batch without a change.
    private static func checkBatch(of job: ParsedJob) throws(Violation) {
        guard !job.pushes.isEmpty else { return }
        if job.details.hasTemplates { return try checkTemplates(of: job) }
        var builder = BatchBuilder()
        let id = job.id ?? "made-by-the-farm"
        let head = JobPartHead(jobID: id, options: job.options, payloadPerPush: job.payload == nil)
        job.raw.withUnsafeBytes { raw in
            job.tokenBytes.withUnsafeBytes { tokens in
                func part(_ range: Range<Int>) -> UnsafeRawBufferPointer { .init(rebasing: raw[range]) }
                builder.begin(head, payload: part(job.payload ?? 0..<0))
                for (number, push) in job.pushes.enumerated() {
                    let token = UnsafeRawBufferPointer(rebasing: tokens[push.token])
                    if job.payload == nil {
                        builder.append(token: token, payload: part(job.payload(of: number)))
                    } else {
                        builder.append(token: token)
                    }
                }
            }
        }
        guard let body = builder.finish() else { throw Violation("an empty batch") }
        let batch: Batch
        do throws(CodecError) { batch = try Batch(decoding: body) } catch {
            throw Violation("its batch cannot be read: \(error)")
        }
        try Violation.unless(
            batch.jobParts.count == 1 && batch.jobParts[0].options == job.options && batch.jobID(of: 0) == id,
            "other options in its batch")
        try Violation.unless(batch.pushes.count == job.accepted, "other pushes in its batch")
        for (number, (push, wanted)) in zip(batch.pushes, job.pushes).enumerated() {
            try Violation.unless(
                batch.bytes[push.token] == job.tokenBytes[wanted.token]
                    && batch.bytes[push.payload] == job.raw[job.payload(of: number)],
                "another push in its batch")
        }
    }

    /// Checks that the pushes of a job with templates are rendered as JSON objects of an allowed size.
    private static func checkTemplates(of job: ParsedJob) throws(Violation) {
        var builder = BatchBuilder()
        let head = JobPartHead(jobID: "a", options: job.options, payloadPerPush: true, hasTemplates: true)
        builder.begin(head, payload: UnsafeRawBufferPointer(start: nil, count: 0))
        for (number, push) in job.pushes.enumerated() {
            let template = job.details.template(of: number)
            job.tokenBytes[push.token].withUnsafeBytes { token in
                job.details.withValues(of: number) {
                    builder.append(
                        token: token, template: template, job.details.templates[template], values: $0)
                }
            }
        }
        let batch: Batch
        do throws(CodecError) { batch = try Batch(decoding: builder.finish() ?? []) } catch {
            throw Violation("its batch cannot be read: \(error)")
        }
        try Violation.unless(batch.pushes.count == job.accepted, "other pushes in its batch")
        for push in batch.pushes {
            let payload = Array(batch.bytes[push.payload])
            try Violation.unless(payload.count <= job.options.pushType.payloadLimit, "too large")
            try Violation.unless(payload.first == UInt8(ascii: "{"), "no object")
            _ = try ReferenceJSON(accepted: payload)
        }
    }

    private static func isProperID(_ id: String) -> Bool {
        (1...64).contains(id.unicodeScalars.count) && id.utf8.count <= 255
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool { Character(Unicode.Scalar(byte)).isHexDigit }

    /// A simple reference implementation for the product's fast implementation.
    private static func token(ofHex text: String) -> [UInt8]? {
        let digits = text.unicodeScalars.map { $0.isASCII ? Character($0).hexDigitValue : nil }
        guard digits.count % 2 == 0, JobLimits.tokenBytes.contains(digits.count / 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high * 16 + low))
        }
        return bytes
    }
}
