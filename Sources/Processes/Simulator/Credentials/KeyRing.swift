import APNs
import OpenSSL

/// The keys whose provider tokens are good here, and the tokens that were checked already.
struct KeyRing {
    /// A provider token and what its signature proves.
    struct Checked {
        let parts: ProviderTokenParts
        let isSigned: Bool
        /// Why it may not be used here although it is genuine.
        let refusal: Reason?
        let topics: TopicRules
    }

    private struct Entry {
        let team: String
        let key: VerifyingKey
        let refusal: Reason?
        let topics: TopicRules
    }

    /// More tokens than this at a time are not remembered.
    private static let memory = 4_096

    private var entries: [String: Entry] = [:]
    private var checked: [[UInt8]: Checked] = [:]
    private(set) var verified = 0

    init(
        _ keys: [SimulatorOptions.Key], environment: SimulatorOptions.Environment
    ) throws(SimulatorError) {
        /// A topic that a key names belongs to its team: keys of other teams may not push to it.
        var teams: [String: Set<String>] = [:]
        for key in keys { for topic in key.topics ?? [] { teams[topic, default: []].insert(key.team) } }
        for key in keys {
            let pem = try PlainFile.read(key.file)
            let isOfHere = key.environment == nil || key.environment == environment
            entries[key.id] = Entry(
                team: key.team, key: try Self.verifyingKey(pem, file: key.file),
                refusal: isOfHere ? nil : .badEnvironmentKeyIDInToken,
                topics: TopicRules(
                    tokenBundles: key.topics,
                    except: teams.filter { !$0.value.contains(key.team) }.keys.sorted()))
        }
    }

    /// Takes a token apart and checks its signature, once for the same bytes; nil if it is malformed.
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
            // Not a private key; a public one will do.
            do throws(CredentialError) { return try VerifyingKey(pem: pem) } catch {
                throw .unusable("\(file): \(error)")
            }
        }
    }
}
