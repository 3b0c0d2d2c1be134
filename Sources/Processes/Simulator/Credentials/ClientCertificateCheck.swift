import APNs
import OpenSSL

/// What a client certificate allows here.
enum ClientCertificateCheck {
    /// - Parameter fault: what a full check of the certificate holds against it.
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
