/// Builds batches from the pushes of one or several jobs. The builder can be reused.
///
/// The builder does not write a job part without pushes. When the buffers are large enough, adding a push needs no allocation.
package struct BatchBuilder: Sendable {
    private var table: [UInt8] = []
    private var jobParts: [UInt8] = []
    private var jobPartCount: UInt16 = 0
    private var open: Open?
    /// The number of each template in the batch; the key is the template's id from the caller.
    private var templates: [Int: UInt16] = [:]
    /// The number of pushes so far, in all job parts.
    package private(set) var count = 0

    /// The job part that receives new pushes.
    private struct Open {
        let tableStart: Int
        let jobPartStart: Int
        let hasPayloadPerPush: Bool
        let hasTemplates: Bool
        var tokens: UInt16 = 0
    }

    package init() {}

    package var isEmpty: Bool { count == 0 }

    /// The size in bytes of the batch if it were finished now.
    package var byteCount: Int { 3 + table.count + jobParts.count }

    /// Starts a job part whose pushes share `payload`. If the head says that each push has its own payload, `payload` must be
    /// empty.
    package mutating func begin(_ head: JobPartHead, payload: UnsafeRawBufferPointer) {
        close()
        open = Open(
            tableStart: table.count, jobPartStart: jobParts.count, hasPayloadPerPush: head.hasPayloadPerPush,
            hasTemplates: head.hasTemplates)
        writeTable(jobID: head.jobID, isAtMostOnce: head.isAtMostOnce)
        head.write(payload: payload, to: &jobParts)
    }

    /// Adds a push with the payload of its job part.
    package mutating func append(token: UnsafeRawBufferPointer) {
        countPush(withPayload: false)
        JobPartHead.write(token: token, to: &jobParts)
    }

    /// Adds a push with its own payload.
    package mutating func append(token: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer) {
        countPush(withPayload: true)
        JobPartHead.write(token: token, payload: payload, to: &jobParts)
    }

    /// Whether the batch contains the template with this id.
    package func contains(template id: Int) -> Bool { templates[id] != nil }

    /// Adds a push with values for a template. The first push with a certain template also writes this template into the batch.
    ///
    /// - Parameters:
    ///   - id: the caller's number for the template. Two templates must not have the same number.
    ///   - template: the encoded template.
    ///   - values: the encoded values.
    package mutating func append(
        token: UnsafeRawBufferPointer, template id: Int, _ template: [UInt8],
        values: UnsafeRawBufferPointer
    ) {
        countPush(withPayload: true, withTemplate: true)
        let known = templates[id]
        JobPartHead.write(token: token, to: &jobParts)
        jobParts.appendBigEndian(UInt32(2 + (known == nil ? template.count : 0) + values.count))
        jobParts.appendBigEndian(known ?? BatchLayout.newTemplate)
        if known == nil {
            precondition(
                templates.count < Int(BatchLayout.newTemplate), "a batch holds at most 65,535 templates")
            templates[id] = UInt16(templates.count)
            jobParts.append(contentsOf: template)
        }
        jobParts.append(contentsOf: values)
    }

    /// Adds a complete encoded job part without templates, from another batch or from a results entry.
    package mutating func append(
        jobPart: UnsafeRawBufferPointer, tokens: Int, jobID: [UInt8], isAtMostOnce: Bool
    ) {
        close()
        precondition((1...Int(UInt16.max)).contains(tokens), "a job part holds 1 to 65,535 pushes")
        open = Open(
            tableStart: table.count, jobPartStart: jobParts.count, hasPayloadPerPush: false,
            hasTemplates: false, tokens: UInt16(tokens))
        writeTable(jobID: jobID, isAtMostOnce: isAtMostOnce)
        jobParts.append(contentsOf: jobPart)
        count += tokens
        close()
    }

    /// Returns the batch of all pushes so far and empties the builder. Nil if there are no pushes.
    package mutating func finish() -> [UInt8]? {
        close()
        guard count > 0 else { return nil }
        var body: [UInt8] = []
        body.reserveCapacity(byteCount)
        body.append(templates.isEmpty ? BatchLayout.version : BatchLayout.templateVersion)
        body.appendBigEndian(jobPartCount)
        body.append(contentsOf: table)
        body.append(contentsOf: jobParts)
        removeAll()
        return body
    }

    /// Removes all pushes and keeps the buffers.
    package mutating func removeAll() {
        table.removeAll(keepingCapacity: true)
        jobParts.removeAll(keepingCapacity: true)
        jobPartCount = 0
        count = 0
        open = nil
        templates.removeAll(keepingCapacity: true)
    }

    private mutating func writeTable(jobID: [UInt8], isAtMostOnce: Bool) {
        table.appendBigEndian(UInt16(0))
        table.append(isAtMostOnce ? BatchLayout.tableAtMostOnce : 0)
        jobID.withUnsafeBytes { table.appendShort($0) }
    }

    private mutating func countPush(withPayload: Bool, withTemplate: Bool = false) {
        guard let tokens = open?.tokens, tokens < .max, open?.hasPayloadPerPush == withPayload,
            open?.hasTemplates == withTemplate
        else {
            preconditionFailure("no job part is open for this push, or it is full, or of the other kind")
        }
        open?.tokens = tokens + 1
        count += 1
    }

    private mutating func close() {
        guard let open else { return }
        self.open = nil
        guard open.tokens > 0 else {
            table.removeSubrange(open.tableStart...)
            jobParts.removeSubrange(open.jobPartStart...)
            return
        }
        precondition(jobPartCount < .max, "a batch holds at most 65,535 job parts")
        jobPartCount += 1
        table.putBigEndian(open.tokens, at: open.tableStart)
    }
}
