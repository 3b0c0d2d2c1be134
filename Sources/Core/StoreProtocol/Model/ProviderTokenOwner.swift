/// The owner of provider tokens: a key id, a team and a signing key. Another team or key means other provider tokens.
package struct ProviderTokenOwner: Hashable, Sendable, CustomStringConvertible {
    package let keyID: String
    package let teamID: String
    /// The hexadecimal fingerprint of the public key.
    package let keyFingerprint: String

    package init(keyID: String, teamID: String, keyFingerprint: String) {
        (self.keyID, self.teamID, self.keyFingerprint) = (keyID, teamID, keyFingerprint)
    }

    /// All three parts in full: this text names the credentials of a pause, and a sealed provider token is bound to it.
    package var description: String { "\(keyID) \(teamID) \(keyFingerprint)" }
}
