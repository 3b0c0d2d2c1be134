/// What the intake has to know of an app to turn its jobs into batches. No secret is part of it.
package struct IntakeSetup: Equatable, Sendable {
    package var name: String
    /// The topic that a push type's suffix is added to.
    package var topic: String
    /// A longer job is refused unread.
    package var maxJobBytes: UInt64
    /// Tokens, or pushes, of one job.
    package var maxTokens: UInt32
    /// Accounts of finished jobs: how many are kept, and for how long.
    package var accounts: UInt64
    package var accountSeconds: UInt64

    package init(
        name: String, topic: String, maxJobBytes: UInt64, maxTokens: UInt32, accounts: UInt64,
        accountSeconds: UInt64
    ) {
        (self.name, self.topic) = (name, topic)
        (self.maxJobBytes, self.maxTokens) = (maxJobBytes, maxTokens)
        (self.accounts, self.accountSeconds) = (accounts, accountSeconds)
    }
}

extension IntakeSetup {
    func write(to writer: inout ControlWriter) {
        writer.text(name)
        writer.text(topic)
        writer.number(maxJobBytes)
        writer.number(maxTokens)
        writer.number(accounts)
        writer.number(accountSeconds)
    }

    init(from reader: inout ControlReader) throws(ControlError) {
        name = try reader.text()
        topic = try reader.text()
        maxJobBytes = try reader.number()
        maxTokens = try reader.number()
        accounts = try reader.number()
        accountSeconds = try reader.number()
    }
}
