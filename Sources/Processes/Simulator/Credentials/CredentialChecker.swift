import APNs
import EventLoop
import OpenSSL
import POSIX
import Transport

/// Checks the credentials of each request on one connection.
struct CredentialChecker {
    private enum Kind {
        case anybody
        case certificate(PushCheck.CredentialOutcome)
        case providerToken
    }

    private let kind: Kind
    private var rules: ProviderTokenRules
    /// The bytes of the last accepted provider token.
    private var accepted: [UInt8] = []
    /// The topics that the last accepted provider token may push to.
    private var verdict = PushCheck.CredentialOutcome.refused(.missingProviderToken)

    /// - Parameter certificate: the result of checking the client certificate; nil if the client sent no certificate.
    init(_ options: SimulatorOptions, certificate: PushCheck.CredentialOutcome?) {
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
    ///   - authorization: the value of the `authorization` header; nil if the request has no such header.
    ///   - now: the present time in seconds since 1970.
    mutating func check(
        _ authorization: UnsafeRawBufferPointer?, keys: inout KeyRing, now: Int64
    ) -> PushCheck.CredentialOutcome {
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
    /// - Parameter fault: the fault that a full check of the certificate found; nil if the check found no fault.
    static func outcome(
        of certificate: Certificate, fault: CertificateFault?, environment: SimulatorOptions.Environment
    ) -> PushCheck.CredentialOutcome {
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

extension SimulatorOptions {
    /// The permissions of a connection's client certificate; nil if the client sent no certificate.
    @Loop func certificateOutcome(of stream: ByteStream) -> PushCheck.CredentialOutcome? {
        stream.withSession { session in
            session.peerCertificate.map { certificate in
                ClientCertificateCheck.outcome(
                    of: certificate, fault: session.peerFault, environment: environment)
            }
        } ?? nil
    }

    /// The client of a connection to the binary interface or the feedback service; nil if the client is refused.
    @Loop func binaryClient(of stream: ByteStream) -> BinaryClient? {
        guard authentication == .required else { return BinaryClient() }
        return stream.withSession { session in
            guard let certificate = session.peerCertificate else { return BinaryClient() }
            return BinaryClient(certificate, fault: session.peerFault, environment: environment)
        } ?? BinaryClient()
    }

    /// The TLS settings of the binary interface and the feedback service if `isBinary` is true, else of the HTTP/2
    /// interface; nil if the gateway does not use TLS.
    func tls(_ credentials: SimulatorCredentials, isBinary: Bool) throws(SimulatorError) -> TLSContext? {
        guard usesTLS else { return nil }
        let authorities = credentials.authorityPEM
        var settings = ServerSettings(
            identity: credentials.server, applicationProtocols: isBinary ? [] : ["h2"])
        settings.maximumVersion = newestTLS
        if asksForCertificates {
            settings.clientCertificates =
                switch (isBinary, authentication) {
                case (false, _): .optional(authorities: authorities, .chained)
                case (true, .none): .optional(authorities: authorities, .anything)
                case (true, .required): .required(authorities: authorities, .chained)
                }
        }
        do { return try TLSContext(server: settings) } catch { throw .system("\(error)") }
    }
}
