import StoreProtocol

/// What waits of an app, as Redis last said to the host that has its intake.
struct BacklogReading {
    var depths: ReadDepths.Reply
    var ages: ReadAges.Reply
    var refusals: ReadRefusals.Reply
    /// Refused jobs.
    var refusedLastMinute: Int
}
