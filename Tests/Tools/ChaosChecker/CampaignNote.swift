/// A campaign of a run, with its record at the end. No device is added, removed or reported as done while the campaign runs.
package struct CampaignNote: Equatable, Sendable {
    /// The id of the campaign, which its pushes carry as their collapse id.
    package var id: String
    /// The tokens of the devices in the audience.
    package var tokens: [String]
    /// The number of rounds. The pushes of two rounds have different payloads.
    package var rounds: Int
    /// The fields of the campaign's record at the end; empty if there is no record.
    package var record: [String: String] = [:]

    package init(id: String, tokens: [String], rounds: Int) {
        (self.id, self.tokens, self.rounds) = (id, tokens, rounds)
    }
}
