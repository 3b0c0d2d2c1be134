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

extension IntakeSetup: ControlValue {
    package func write(to writer: inout ControlWriter) {
        writer.write(name, topic, maxJobBytes, maxTokens, maxPayloadBytes)
        writer.write(hasOneTopic, topics, jobRecords, jobRecordSeconds)
    }

    package init(from reader: inout ControlReader) throws(ControlError) {
        (name, topic, maxJobBytes, maxTokens, maxPayloadBytes) = try reader.readAll()
        (hasOneTopic, topics, jobRecords, jobRecordSeconds) = try reader.readAll()
    }
}
