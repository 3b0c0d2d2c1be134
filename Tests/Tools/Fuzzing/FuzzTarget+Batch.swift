import PushModel

extension FuzzTarget {
    /// The body of a batch, as a worker reads it from Redis.
    static let batch = FuzzTarget(
        "batch",
        words: ["\u{1}\u{0}\u{1}", "\u{0}\u{0}\u{0}\u{1}", "{\"aps\":{}}", "job", "\u{8}\u{1}\u{a}\u{0}"]
    ) { bytes throws(Violation) in
        guard let batch = try? Batch(decoding: bytes) else { return }
        try Violation.unless(batch.jobParts.count <= bytes.count / 4, "more job parts than bytes")
        try Violation.unless(batch.pushes.count <= bytes.count / 2, "more pushes than bytes")
        var copies = BatchBuilder()
        var again = BatchBuilder()
        var isText = true
        for (index, jobPart) in batch.jobParts.enumerated() {
            copies.append(jobPart, of: batch, index)
            again.rewrite(jobPart, of: batch, index)
            if String(validating: batch.bytes[jobPart.cause], as: UTF8.self) == nil { isText = false }
        }
        try Violation.unless(copies.finish() == bytes, "job parts copied as they are make another body")
        let rewritten = again.finish()
        try Violation.unless(!isText || rewritten == bytes, "written again, it is another body")
    }
}

extension BatchBuilder {
    /// Appends a job part in the way that a retry copies it from a results entry into a batch.
    mutating func append(_ jobPart: Batch.JobPart, of batch: Batch, _ index: Int) {
        batch.bytes[jobPart.encoded].withUnsafeBytes {
            append(
                jobPart: $0, tokens: jobPart.pushes.count, jobID: Array(batch.jobID(of: index).utf8),
                isAtMostOnce: jobPart.options.delivery == .atMostOnce)
        }
    }

    /// Appends a job part push by push.
    mutating func rewrite(_ jobPart: Batch.JobPart, of batch: Batch, _ index: Int) {
        let head = JobPartHead(
            repeating: jobPart, jobID: batch.jobID(of: index), attempt: jobPart.attempt,
            cause: batch.text(jobPart.cause))
        batch.bytes.withUnsafeBytes { bytes in
            begin(head, payload: .init(rebasing: bytes[jobPart.hasPayloadPerPush ? 0..<0 : jobPart.payload]))
            for push in batch.pushes[jobPart.pushes] {
                let token = UnsafeRawBufferPointer(rebasing: bytes[push.token])
                if jobPart.hasPayloadPerPush {
                    append(token: token, payload: .init(rebasing: bytes[push.payload]))
                } else {
                    append(token: token)
                }
            }
        }
    }
}
