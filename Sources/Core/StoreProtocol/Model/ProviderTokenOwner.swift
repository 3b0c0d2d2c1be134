/// Whose provider tokens: with another team or another key under the same id they are other tokens.
package struct ProviderTokenOwner: Hashable, Sendable, CustomStringConvertible {
    package let keyID: String
    package let teamID: String
    /// Of the public key, hexadecimal.
    package let keyFingerprint: String

    package init(keyID: String, teamID: String, keyFingerprint: String) {
        (self.keyID, self.teamID, self.keyFingerprint) = (keyID, teamID, keyFingerprint)
    }

    /// Holds all three, whole: it names the credentials of a pause, and a sealed token is bound to it.
    package var description: String { "\(keyID) \(teamID) \(keyFingerprint)" }
}
