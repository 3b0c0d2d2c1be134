/// The job, the options and the history (attempts and last failure) of a job part. A head is encoded once and written into every
/// batch of the job.
package struct JobPartHead: Sendable {
    let jobID: [UInt8]
    let options: [UInt8]
    let isAtMostOnce: Bool
    package let hasPayloadPerPush: Bool
    /// Whether each push has a template and values as its payload.
    let hasTemplates: Bool

    /// - Parameters:
    ///   - attempt: the number of attempts already made.
    ///   - cause: the reason why the last attempt failed, cut at 255 bytes; empty before the first attempt.
    ///   - hasTemplates: whether the payloads are templates and values; this requires a payload per push.
    package init(
        jobID: String, options: PushOptions, attempt: UInt8 = 0, cause: String = "",
        payloadPerPush: Bool = false, hasTemplates: Bool = false
    ) {
        precondition(payloadPerPush || !hasTemplates, "a payload that all pushes share has no template")
        self.jobID = Array(jobID.utf8)
        precondition(self.jobID.count <= 255, "a job id has at most 255 bytes")
        isAtMostOnce = options.delivery == .atMostOnce
        hasPayloadPerPush = payloadPerPush
        self.hasTemplates = hasTemplates
        var cause = cause
        self.options = cause.withUTF8 {
            Self.encode(
                options, attempt, UnsafeRawBufferPointer($0),
                (payloadPerPush ? BatchLayout.payloadPerPush : 0)
                    | (hasTemplates ? BatchLayout.templates : 0))
        }
    }

    /// Creates the head for a retry of pushes of `jobPart`: takes the options from `jobPart`, and the history from `attempt` and
    /// `cause`.
    package init(repeating jobPart: Batch.JobPart, jobID: String, attempt: UInt8, cause: String) {
        self.init(
            jobID: jobID, options: jobPart.options, attempt: attempt, cause: cause,
            payloadPerPush: jobPart.hasPayloadPerPush)
    }

    private static func encode(
        _ options: PushOptions, _ attempt: UInt8, _ cause: UnsafeRawBufferPointer, _ layout: UInt8
    ) -> [UInt8] {
        var flags = layout
        if options.expiration != nil { flags |= BatchLayout.hasExpiration }
        if options.deadline != nil { flags |= BatchLayout.hasDeadline }
        if options.registeredAt != nil { flags |= BatchLayout.hasRegisteredAt }
        if options.delivery == .atMostOnce { flags |= BatchLayout.atMostOnce }
        if options.isStored { flags |= BatchLayout.stored }
        var bytes: [UInt8] = [
            attempt, options.maxAttempts, options.priority, options.pushType.rawValue,
            options.receipts.rawValue,
            flags,
        ]
        bytes.reserveCapacity(64)
        bytes.appendBigEndian(options.expiration ?? 0)
        bytes.appendBigEndian(options.deadline ?? 0)
        bytes.appendBigEndian(options.registeredAt ?? 0)
        bytes.appendShort(UTF8Text.prefix(cause, limit: 255))
        bytes.appendShort(options.collapseID ?? "")
        bytes.appendShort(options.topic ?? "")
        return bytes
    }

    /// Writes the start of a job part, up to its pushes.
    func write(payload: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        precondition(!hasPayloadPerPush || payload.isEmpty, "a job part has one payload, or one a push")
        bytes.appendBigEndian(UInt16(options.count))
        bytes.append(contentsOf: options)
        bytes.appendBigEndian(UInt32(payload.count))
        bytes.append(contentsOf: payload)
    }

    @inline(__always)
    static func write(token: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
        precondition(!token.isEmpty, "a push needs a token")
        bytes.appendShort(token)
    }

    @inline(__always)
    static func write(
        token: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer, to bytes: inout [UInt8]
    ) {
        write(token: token, to: &bytes)
        bytes.appendBigEndian(UInt32(payload.count))
        bytes.append(contentsOf: payload)
    }
}
