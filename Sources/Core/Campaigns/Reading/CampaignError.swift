/// Why a campaign was refused, for the developer or the operator who wrote it.
package struct CampaignError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The wrong field, such as `window.from` or `stages[1].share`; `campaign` for the campaign as a whole.
    package let field: String
    /// The offset of the fault in the campaign's bytes.
    package let position: Int
    /// A sentence with the fault and the correction.
    package let reason: String
    /// The campaign's id, if it could be read.
    package internal(set) var id: String?

    package init(field: String, position: Int, reason: String, id: String? = nil) {
        (self.field, self.position, self.reason, self.id) = (field, position, reason, id)
    }

    /// The name of a campaign as a whole, where no single field is wrong.
    package static let whole = "campaign"

    package var description: String { "\(field): \(reason) (at byte \(position))" }
}
