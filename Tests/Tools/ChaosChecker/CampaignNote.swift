/// A campaign of a run, with its record at the end. A device that is registered while the campaign runs is in none of the lists,
/// so it must get no push.
package struct CampaignNote: Equatable, Sendable {
    /// How the campaign chooses its pushes.
    package enum Kind: Equatable, Sendable {
        /// Each device gets one push in each round. The pushes of two rounds have different payloads.
        case rounds
        /// The campaign has one round. Each device may get one push of all campaigns of the category.
        case capped(category: String)
        /// The payload of a push shows its variant: the hash of the payload, and the name of the variant.
        case variants([String: String])
        /// The pushes are those of a ``MergeNote``.
        case merged
    }

    /// The id of the campaign, which its pushes carry as their collapse id, except merged pushes.
    package var id: String
    package var kind: Kind
    /// The tokens of the devices that are in the audience of every round.
    package var tokens: [String]
    /// The number of rounds.
    package var rounds: Int
    /// The tokens of the devices that left the audience while the campaign ran. Such a device gets no push of a round that follows
    /// a round without a push to the device.
    package var leaving: [String] = []
    /// The tokens of the devices that were done before the second round. Such a device gets no push of a later round.
    package var done: [String] = []
    /// The tokens of the devices with a reward. The first reward of each is 1.
    package var rewarded: [String] = []
    /// The fields of the campaign's record at the end; empty if there is no record.
    package var record: [String: String] = [:]

    package init(id: String, tokens: [String], rounds: Int, kind: Kind = .rounds) {
        (self.id, self.tokens, self.rounds, self.kind) = (id, tokens, rounds, kind)
    }

    /// The tokens that may get a push of the campaign.
    var audience: Set<String> { Set(tokens + leaving + done) }

    /// A count of the campaign's record; 0 if it is missing or no number.
    func count(_ field: String) -> Int { record[field].flatMap { Int($0) } ?? 0 }

    /// The accepted pushes of all rounds, as the record counts them.
    var accepted: Int { (1...rounds).reduce(0) { $0 + count("accepted:\($1)") } }
}

/// A merge group of a run, whose pushes have the content of some of its campaigns.
package struct MergeNote: Equatable, Sendable {
    /// The name of the group, which its pushes carry as their collapse id.
    package var id: String
    package var campaigns: [String]
    /// For the hash of each possible payload, the campaigns whose content it has.
    package var payloads: [String: [String]]
    /// The least time between two pushes to a device, in milliseconds.
    package var gap: Int64
    /// The time of a slot in milliseconds.
    package var slotLength: Int64
    /// For each device, the slots in which the farm gave it a push, in ascending order. Kills delay pushes on their way to the
    /// gateway, so the slots show the time between two pushes better than the gateway's ledger.
    package var slots: [[Int64]] = []

    package init(id: String, campaigns: [String], payloads: [String: [String]], gap: Int64, slotLength: Int64)
    {
        (self.id, self.campaigns, self.payloads) = (id, campaigns, payloads)
        (self.gap, self.slotLength) = (gap, slotLength)
    }
}
