import APNs
import OpenSSL

/// The keys whose provider tokens are accepted, and the tokens that were already checked.
struct KeyRing {
    /// A provider token, with the result of checking its signature.
    struct Checked {
        let parts: ProviderTokenParts
        let isSigned: Bool
        /// Why this gateway refuses all tokens of the key, even tokens with a valid signature; nil if the gateway accepts tokens
        /// of the key.
        let refusal: Reason?
        let topics: TopicRules
    }

    private struct Entry {
        let team: String
        let key: VerifyingKey
        let refusal: Reason?
        let topics: TopicRules
    }

    /// The maximum number of checked tokens that are remembered.
    private static let memory = 4_096

    private var entries: [String: Entry] = [:]
    private var checked: [[UInt8]: Checked] = [:]
    private(set) var verified = 0

    init(
        _ keys: [SimulatorOptions.Key], environment: SimulatorOptions.Environment
    ) throws(SimulatorError) {
        /// For each topic, the teams with a key that names the topic. The keys of all other teams may not push to the
        /// topic.
        var teams: [String: Set<String>] = [:]
        for key in keys { for topic in key.topics ?? [] { teams[topic, default: []].insert(key.team) } }
        for key in keys {
            let pem = try SimulatorFile.read(key.file)
            let isOfHere = key.environment == nil || key.environment == environment
            entries[key.id] = Entry(
                team: key.team, key: try Self.verifyingKey(pem, file: key.file),
                refusal: isOfHere ? nil : .badEnvironmentKeyIDInToken,
                topics: TopicRules(
                    tokenBundles: key.topics,
                    except: teams.filter { !$0.value.contains(key.team) }.keys.sorted()))
        }
    }

    /// Parses a token and checks its signature; nil if it is malformed. The result is remembered for later calls with
    /// the same bytes.
    mutating func check(_ token: UnsafeRawBufferPointer) -> Checked? {
        let bytes = Array(token)
        if let known = checked[bytes] { return known }
        guard let parts = ProviderTokenParts(token) else { return nil }
        verified += 1
        let entry = entries[parts.keyID]
        let isSigned =
            entry.map {
                $0.team == parts.teamID
                    && $0.key.isValid(parts.signature, for: Array(bytes[..<parts.signedLength]))
            } ?? false
        let result = Checked(
            parts: parts, isSigned: isSigned, refusal: entry?.refusal,
            topics: entry?.topics ?? TopicRules(tokenBundles: []))
        if checked.count >= Self.memory { checked.removeAll() }
        checked[bytes] = result
        return result
    }

    private static func verifyingKey(_ pem: [UInt8], file: String) throws(SimulatorError) -> VerifyingKey {
        do throws(CredentialError) { return try SigningKey(pem: pem).verifyingKey } catch {
            // The file contains no private key. A public key is sufficient for checking signatures.
            do throws(CredentialError) { return try VerifyingKey(pem: pem) } catch {
                throw .unusable("\(file): \(error)")
            }
        }
    }
}
