extension HeldBatch {
    /// The state of one push of the batch, from here to Redis.
    enum PushState: UInt8 {
        case open, inFlight, delivered, other, reportingDelivered, reportingOther, reportedDelivered,
            reportedOther
        /// Redis has its outcome from another owner.
        case known

        /// Redis has the outcome.
        var isReported: Bool { self == .known || self == .reportedDelivered || self == .reportedOther }
        /// The outcome is known here, and no report carries it.
        var isUnreported: Bool { self == .delivered || self == .other }
    }
}
