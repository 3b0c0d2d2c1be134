/// The options of a job's pushes. A push may replace some of the job's options by its own options.
package struct PushOptions: Hashable, Sendable {
    package var pushType: PushType
    /// The `apns-priority` header: 1, 5 or 10.
    package var priority: UInt8
    /// The `apns-expiration` header in Unix seconds; nil: no header. With 0, the gateway tries only once to deliver the push.
    package var expiration: Int64?
    /// The Unix time in seconds at which an unsent push expires; nil: unsent pushes do not expire.
    package var deadline: Int64?
    /// The `apns-collapse-id` header, at most 64 bytes.
    package var collapseID: String?
    /// The topic that the job or push sets, at most 255 bytes; nil: the topic is ``PushType/topic(ofApp:)``.
    package var topic: String?
    package var receipts: Receipts
    package var delivery: DeliveryGuarantee
    /// The maximum number of attempts to send a push, 1 to 100.
    package var maxAttempts: UInt8
    /// The Unix time in seconds at which the producer last saw the job's tokens registered.
    /// If a gateway reports that a token became unregistered before this time, the farm ignores the report.
    package var registeredAt: Int64?
    /// Whether the tokens come from stored devices, so that some suppressions do not apply
    /// (``SuppressionReason/isKnownToRegistry``).
    package var isStored: Bool

    package static let defaultMaxAttempts: UInt8 = 8

    package init(
        pushType: PushType = .alert, priority: UInt8? = nil, expiration: Int64? = nil, deadline: Int64? = nil,
        collapseID: String? = nil, topic: String? = nil, receipts: Receipts = .failures,
        delivery: DeliveryGuarantee = .atLeastOnce, maxAttempts: UInt8 = Self.defaultMaxAttempts,
        registeredAt: Int64? = nil, isStored: Bool = false
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
        self.isStored = isStored
    }
}

/// Selects the pushes of a job about which the farm sends single events: the failed pushes, all pushes, or no pushes.
///
/// The farm always sends the events with the job's counts.
package enum Receipts: UInt8, NamedCase, Hashable, Sendable {
    case failures = 0
    case all = 1
    case none = 2

    /// The word for this value in a job.
    package var name: String {
        switch self {
        case .failures: "failures"
        case .all: "all"
        case .none: "none"
        }
    }
}

/// What the farm does with a push whose outcome is unknown, because a connection or a worker was lost.
package enum DeliveryGuarantee: UInt8, NamedCase, Hashable, Sendable {
    /// The farm sends the push again. The device may get the push twice, so the job counts the push as possibly duplicated.
    case atLeastOnce = 0
    /// The push is not retried. The push fails with the reason `unknown`.
    case atMostOnce = 1

    /// The word for this value in a job.
    package var name: String {
        switch self {
        case .atLeastOnce: "at-least-once"
        case .atMostOnce: "at-most-once"
        }
    }
}

/// The priority class of a push. The farm sends pushes of the lane `high` before pushes of the lane `bulk`.
package enum Lane: UInt8, NamedCase, Hashable, Sendable {
    case high = 0
    case bulk = 1

    /// The word for this lane in a job: `high` or `bulk`.
    package var name: String {
        switch self {
        case .high: "high"
        case .bulk: "bulk"
        }
    }

    /// The letter for this lane in a batch id: `h` or `b`.
    package var letter: UInt8 {
        switch self {
        case .high: UInt8(ascii: "h")
        case .bulk: UInt8(ascii: "b")
        }
    }

    package init?(letter: UInt8) {
        guard let lane = Self.allCases.first(where: { $0.letter == letter }) else { return nil }
        self = lane
    }
}
