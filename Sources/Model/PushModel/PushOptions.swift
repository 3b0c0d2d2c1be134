/// What all pushes of a job have in common, but for token and payload.
package struct PushOptions: Hashable, Sendable {
    package var pushType: PushType
    /// The `apns-priority` header: 1, 5 or 10.
    package var priority: UInt8
    /// The `apns-expiration` header in Unix seconds; 0 is one attempt, nil is no header.
    package var expiration: Int64?
    /// Unix seconds after which the farm does not send it any more, but counts it as expired.
    package var deadline: Int64?
    /// The `apns-collapse-id` header, at most 64 bytes.
    package var collapseID: String?
    /// The job's own topic, at most 255 bytes; nil is ``PushType/topic(ofApp:)``.
    package var topic: String?
    package var receipts: Receipts
    package var delivery: Delivery
    /// How many tries a push gets, 1 to 100.
    package var maxAttempts: UInt8
    /// Unix seconds when the producer last saw these tokens registered; older news of death does not count.
    package var registeredAt: Int64?

    package static let defaultMaxAttempts: UInt8 = 8

    package init(
        pushType: PushType = .alert, priority: UInt8? = nil, expiration: Int64? = nil, deadline: Int64? = nil,
        collapseID: String? = nil, topic: String? = nil, receipts: Receipts = .failures,
        delivery: Delivery = .atLeastOnce, maxAttempts: UInt8 = Self.defaultMaxAttempts,
        registeredAt: Int64? = nil
    ) {
        self.pushType = pushType
        self.priority = priority ?? pushType.defaultPriority
        self.expiration = expiration
        self.deadline = deadline
        self.collapseID = collapseID
        self.topic = topic
        self.receipts = receipts
        self.delivery = delivery
        self.maxAttempts = maxAttempts
        self.registeredAt = registeredAt
    }
}
