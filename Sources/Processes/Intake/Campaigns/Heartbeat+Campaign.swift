import Campaigns
import ControlChannel
import Scheduling

extension IntakeNotice.Heartbeat.Campaign {
    /// Adds what a run has done.
    ///
    /// - Parameter remaining: about how many milliseconds the campaign still sends; nil if it is paused or over.
    mutating func add(_ progress: CampaignProgress, remaining: Int64?) {
        var (counted, handled, starts): (Int, Int, [UTCTime]) = (0, 0, [])
        for group in progress.groups {
            round = max(round, UInt32(clamping: group.round))
            rounds = max(rounds, UInt32(clamping: group.rounds))
            if case .waiting(let from) = group.phase { starts.append(from) }
            // A group that waits for a later round still has the numbers of the round before.
            counted = counted.adding(saturating: group.counted)
            handled = handled.adding(saturating: group.handled)
        }
        (self.counted, self.handled) = (UInt64(clamping: counted), UInt64(clamping: handled))
        next = starts.min().map { UInt64(clamping: $0.milliseconds) }
        self.remaining = remaining.map { UInt64(clamping: $0) }
    }
}

extension CampaignCounts {
    /// The devices that all rounds have handled.
    var handled: Int { Kind.results.reduce(0) { $0.adding(saturating: total($1)) } }
}
