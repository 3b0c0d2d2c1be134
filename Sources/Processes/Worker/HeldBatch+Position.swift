extension HeldBatch {
    /// Where one push of the batch is on its way.
    enum Position: UInt8 {
        case open, inAir, delivered, other, reportingDelivered, reportingOther, handedDelivered, handedOther
        /// Redis has its outcome from another owner.
        case known

        /// Redis has the outcome.
        var isHanded: Bool { self == .known || self == .handedDelivered || self == .handedOther }
        /// The outcome is known here, and no report carries it.
        var isSettled: Bool { self == .delivered || self == .other }
    }
}
