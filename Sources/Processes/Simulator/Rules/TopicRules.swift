import APNs
import PushModel

/// The topics that a connection's credentials may push to, and the headers that its pushes may leave out.
struct TopicRules: Hashable, Sendable {
    private enum CredentialKind: Hashable {
        case anyToken(except: [String])
        case token(bundles: [String])
        case certificate(CertificateTopics)
    }

    private let credentials: CredentialKind

    /// Creates the rules for a provider token: the token may push to `bundles`, alone or with a suffix. If `bundles` is nil, the
    /// token may push to all bundle ids except `others`.
    init(tokenBundles bundles: [String]?, except others: [String] = []) {
        credentials = bundles.map { .token(bundles: $0) } ?? .anyToken(except: others)
    }

    init(certificate: CertificateTopics) { credentials = .certificate(certificate) }

    /// Why a push of this type to `topic` is refused; nil if the push is allowed. A nil `topic` means that the
    /// push names no topic.
    ///
    /// If the push type has a suffix, `topic` must end with this suffix. Location pushes need a provider token.
    func refusal(of topic: UnsafeRawBufferPointer?, type: PushType) -> Reason? {
        if case .certificate(let topics) = credentials {
            if type == .location { return .topicDisallowed }
            guard let topic else { return topics.onlyTopic == nil ? .missingTopic : nil }
            return badTopic(topic, type) ?? (topics.allows(topic) ? nil : .topicDisallowed)
        }
        guard let topic else { return .missingTopic }
        if let reason = badTopic(topic, type) { return reason }
        switch credentials {
        case .token(let bundles):
            return bundles.contains { Self.topic(topic, isOf: $0) } ? nil : .topicDisallowed
        case .anyToken(let others):
            return others.contains { Self.topic(topic, isOf: $0) } ? .topicDisallowed : nil
        case .certificate: return nil
        }
    }

    private func badTopic(_ topic: UnsafeRawBufferPointer, _ type: PushType) -> Reason? {
        let suffix = type.topicSuffix
        let bundleLength = topic.count - suffix.utf8.count
        guard bundleLength > 0, topic.after(bundleLength).equals(suffix) else { return .badTopic }
        let isPrintable = topic.allSatisfy { $0 > 0x20 && $0 < 0x7F }
        return isPrintable ? nil : .badTopic
    }

    /// Whether `topic` is the bundle id, alone or with the suffix of a push type.
    private static func topic(_ topic: UnsafeRawBufferPointer, isOf bundle: String) -> Bool {
        guard topic.hasPrefix(bundle) else { return false }
        let suffix = topic.after(bundle.utf8.count)
        for raw in 0...UInt8.max {
            guard let type = PushType(rawValue: raw) else { return false }
            if suffix.equals(type.topicSuffix) { return true }
        }
        return false
    }
}
