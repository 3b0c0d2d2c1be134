import APNs
import OpenSSL

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// The credentials of one connection, and the check of each of its requests.
struct Credentials {
    private enum Kind {
        case anybody
        case certificate(PushCheck.Credentials)
        case providerToken
    }

    private let kind: Kind
    private var rules: ProviderTokenRules
    /// The token that was accepted last, byte by byte, and what it may push to.
    private var accepted: [UInt8] = []
    private var verdict = PushCheck.Credentials.refused(.missingProviderToken)

    /// - Parameter certificate: the outcome of the check of a client certificate; nil if none was shown.
    init(_ options: SimulatorOptions, certificate: PushCheck.Credentials?) {
        kind =
            if let certificate { .certificate(certificate) } else if options.authentication == .none {
                .anybody
            } else { .providerToken }
        rules = ProviderTokenRules(
            lifetime: options.tokenLifetime, updateInterval: options.tokenUpdateInterval)
    }

    /// Whether each request needs a provider token.
    var needsToken: Bool {
        if case .providerToken = kind { true } else { false }
    }

    /// - Parameters:
    ///   - authorization: the header's value, if there is one.
    ///   - now: seconds since 1970.
    mutating func check(
        _ authorization: UnsafeRawBufferPointer?, keys: inout KeyRing, now: Int64
    ) -> PushCheck.Credentials {
        switch kind {
        case .anybody: return .accepted(TopicRules(tokenBundles: nil))
        case .certificate(let outcome): return outcome
        case .providerToken: break
        }
        guard let authorization, let token = ProviderTokenParts.token(inAuthorization: authorization) else {
            return .refused(.missingProviderToken)
        }
        if isAccepted(token) {
            if let reason = rules.refusalOfRepeated(now: now) { return .refused(reason) }
            return verdict
        }
        guard let checked = keys.check(token) else { return .refused(.invalidProviderToken) }
        if checked.isSigned, let reason = checked.refusal { return .refused(reason) }
        if let reason = rules.refusal(of: checked.parts, isSigned: checked.isSigned, now: now) {
            return .refused(reason)
        }
        accepted = Array(token)
        verdict = .accepted(checked.topics)
        return verdict
    }

    private func isAccepted(_ token: UnsafeRawBufferPointer) -> Bool {
        !accepted.isEmpty && token.count == accepted.count
            && accepted.withUnsafeBytes { memcmp($0.baseAddress!, token.baseAddress!, token.count) == 0 }
    }
}

/// Checks which topics a client certificate allows.
enum ClientCertificateCheck {
    /// - Parameter fault: the fault that a full check of the certificate found.
    static func outcome(
        of certificate: Certificate, fault: CertificateFault?, environment: SimulatorOptions.Environment
    ) -> PushCheck.Credentials {
        if fault != nil { return .refused(.badCertificate) }
        let isMarked = { certificate.value(ofExtension: $0) != nil }
        let here = environment == .production ? AppleExtension.production : AppleExtension.sandbox
        let there = environment == .production ? AppleExtension.sandbox : AppleExtension.production
        if !isMarked(here), isMarked(there) { return .refused(.badCertificateEnvironment) }
        let list = certificate.value(ofExtension: AppleExtension.topics)
        let topics =
            list.map { list in
                list.withUnsafeBytes {
                    CertificateTopics(subjectUID: certificate.userID, topicsExtension: $0)
                }
            } ?? CertificateTopics(subjectUID: certificate.userID, topicsExtension: nil)
        guard let topics, !topics.allowed.isEmpty else { return .refused(.badCertificate) }
        return .accepted(TopicRules(certificate: topics))
    }
}
