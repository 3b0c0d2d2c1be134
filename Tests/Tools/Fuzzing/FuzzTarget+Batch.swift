import PushModel

extension FuzzTarget {
    /// The body of a batch, as a worker reads it from Redis.
    static let batch = FuzzTarget(
        "batch",
        words: ["\u{1}\u{0}\u{1}", "\u{0}\u{0}\u{0}\u{1}", "{\"aps\":{}}", "job", "\u{8}\u{1}\u{a}\u{0}"]
    ) { bytes throws(Violation) in
        guard let batch = try? Batch(decoding: bytes) else { return }
        try Violation.unless(batch.segments.count <= bytes.count / 4, "more segments than bytes")
        try Violation.unless(batch.pushes.count <= bytes.count / 2, "more pushes than bytes")
        var copies = BatchBuilder()
        var again = BatchBuilder()
        var isText = true
        for (index, segment) in batch.segments.enumerated() {
            copies.append(segment, of: batch, index)
            again.rewrite(segment, of: batch, index)
            if String(validating: batch.bytes[segment.cause], as: UTF8.self) == nil { isText = false }
        }
        try Violation.unless(copies.finish() == bytes, "segments copied as they are make another body")
        let rewritten = again.finish()
        try Violation.unless(!isText || rewritten == bytes, "written again, it is another body")
    }
}

extension BatchBuilder {
    /// Appends a segment in the way that a retry copies it from a results entry into a batch.
    mutating func append(_ segment: Batch.Segment, of batch: Batch, _ index: Int) {
        batch.bytes[segment.encoded].withUnsafeBytes {
            append(
                segment: $0, tokens: segment.pushes.count, jobID: Array(batch.jobID(of: index).utf8),
                isAtMostOnce: segment.options.delivery == .atMostOnce)
        }
    }

    /// Appends a segment push by push.
    mutating func rewrite(_ segment: Batch.Segment, of batch: Batch, _ index: Int) {
        let head = SegmentHead(
            repeating: segment, jobID: batch.jobID(of: index), attempt: segment.attempt,
            cause: batch.text(segment.cause))
        batch.bytes.withUnsafeBytes { bytes in
            begin(head, payload: .init(rebasing: bytes[segment.hasPayloadPerPush ? 0..<0 : segment.payload]))
            for push in batch.pushes[segment.pushes] {
                let token = UnsafeRawBufferPointer(rebasing: bytes[push.token])
                if segment.hasPayloadPerPush {
                    append(token: token, payload: .init(rebasing: bytes[push.payload]))
                } else {
                    append(token: token)
                }
            }
        }
    }
}
