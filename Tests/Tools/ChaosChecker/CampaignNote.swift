/// A campaign of a run, with its record at the end. A device that is registered while the campaign runs is in none of the lists,
/// so it must get no push.
package struct CampaignNote: Equatable, Sendable {
    /// The id of the campaign, which its pushes carry as their collapse id.
    package var id: String
    /// The tokens of the devices that are in the audience of every round.
    package var tokens: [String]
    /// The number of rounds. The pushes of two rounds have different payloads.
    package var rounds: Int
    /// The tokens of the devices that left the audience while the campaign ran. Such a device gets no push of a round that follows
    /// a round without a push to the device.
    package var leaving: [String] = []
    /// The tokens of the devices that were done before the second round. Such a device gets no push of a later round.
    package var done: [String] = []
    /// The fields of the campaign's record at the end; empty if there is no record.
    package var record: [String: String] = [:]

    package init(id: String, tokens: [String], rounds: Int) {
        (self.id, self.tokens, self.rounds) = (id, tokens, rounds)
    }

    /// The tokens that may get a push of the campaign.
    var audience: Set<String> { Set(tokens + leaving + done) }
}
