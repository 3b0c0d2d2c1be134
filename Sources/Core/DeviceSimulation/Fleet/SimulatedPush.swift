/// A push that the gateway has accepted for a device.
package struct SimulatedPush: Sendable {
    /// The expiration of a push that is never stored (`apns-expiration: 0`).
    package static let notStored = ModelTime.start

    package enum Kind: Sendable, Hashable {
        /// An alert, and any other push that the system delivers at once.
        case alert
        /// An alert with `mutable-content`: the app's notification extension runs.
        case alertWithExtension
        /// A background push with `content-available`.
        case background
        /// A background push without `content-available`, which starts no app.
        case emptyBackground
    }

    package var kind: Kind
    package var expiration = ModelTime.never
    /// A hash of the collapse id; 0: no collapse id.
    package var collapseID: UInt32 = 0
    /// Whether the push has priority 1, which starts no app.
    package var neverWakes = false
    package var editions = EditionList.none

    package init(_ kind: Kind) { self.kind = kind }
}
