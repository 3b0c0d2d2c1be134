/// What the intake has to know of an app to turn its jobs into batches. No secret is part of it.
package struct IntakeSetup: Equatable, Sendable {
    package var name: String
    /// The topic that a push type's suffix is added to.
    package var topic: String
    /// A longer job is refused unread.
    package var maxJobBytes: UInt64
    /// Tokens, or pushes, of one job.
    package var maxTokens: UInt32
    /// Of a payload, if the gateway takes less than push types allow; 0: it does not.
    package var maxPayloadBytes: UInt32
    /// Jobs may not choose another topic than the app's.
    package var hasOneTopic: Bool
    /// Topics that jobs may choose besides the app's own; nil: any.
    package var topics: [String]?
    /// Job records of finished jobs: how many are kept, and for how long.
    package var jobRecords: UInt64
    package var jobRecordSeconds: UInt64

    package init(
        name: String, topic: String, maxJobBytes: UInt64, maxTokens: UInt32, maxPayloadBytes: UInt32 = 0,
        hasOneTopic: Bool = false, topics: [String]? = nil, jobRecords: UInt64, jobRecordSeconds: UInt64
    ) {
        (self.name, self.topic) = (name, topic)
        (self.maxJobBytes, self.maxTokens) = (maxJobBytes, maxTokens)
        (self.maxPayloadBytes, self.hasOneTopic, self.topics) = (maxPayloadBytes, hasOneTopic, topics)
        (self.jobRecords, self.jobRecordSeconds) = (jobRecords, jobRecordSeconds)
    }
}

extension IntakeSetup {
    func write(to writer: inout ControlWriter) {
        writer.text(name)
        writer.text(topic)
        writer.number(maxJobBytes)
        writer.number(maxTokens)
        writer.number(maxPayloadBytes)
        writer.number(UInt8(hasOneTopic ? 1 : 0))
        writer.number(UInt8(topics == nil ? 1 : 0))
        writer.number(UInt16(clamping: topics?.count ?? 0))
        for topic in topics?.prefix(Int(UInt16.max)) ?? [] { writer.text(topic) }
        writer.number(jobRecords)
        writer.number(jobRecordSeconds)
    }

    init(from reader: inout ControlReader) throws(ControlError) {
        name = try reader.text()
        topic = try reader.text()
        maxJobBytes = try reader.number()
        maxTokens = try reader.number()
        maxPayloadBytes = try reader.number()
        let oneTopic: UInt8 = try reader.number()
        guard oneTopic <= 1 else { throw .unknownKind(oneTopic) }
        hasOneTopic = oneTopic == 1
        let anyTopic: UInt8 = try reader.number()
        guard anyTopic <= 1 else { throw .unknownKind(anyTopic) }
        let count: UInt16 = try reader.number()
        guard anyTopic == 0 || count == 0 else { throw .unknownKind(anyTopic) }
        var listed: [String] = []
        for _ in 0..<count { listed.append(try reader.text()) }
        topics = anyTopic == 1 ? nil : listed
        jobRecords = try reader.number()
        jobRecordSeconds = try reader.number()
    }
}
