import APNs
import FarmConfiguration
import OpenSSL

/// Checks whether an app's credentials are valid, and until when.
struct CredentialCheck {
    let app: AppConfiguration
    /// The present time in Unix seconds.
    let now: Int64

    private var name: String { "\(app.name) credentials" }

    /// The findings, and the TLS identity for the gateway check. The identity is nil if the app has none.
    func findings() -> (findings: [Finding], identity: TLSIdentity?) {
        switch app.credentials {
        case .key(let file, let id, let team):
            do {
                _ = try SigningKey(file: file)
                return ([Finding(name, .ok, "key \(id) of team \(team): \(file)")], nil)
            } catch {
                let advice = "Take the .p8 file as Apple's portal gave it."
                return ([Finding(name, .failed, "\(error)", advice: advice)], nil)
            }
        case .certificate(let file, let keyFile, let password):
            do {
                let identity = try TLSIdentity(file: file, keyFile: keyFile, password: password?.reveal())
                return ([life(identity.certificate), purpose(identity.certificate)], identity)
            } catch {
                let advice = "Take the .p12 with its password, or a .pem with certificate and key."
                return ([Finding(name, .failed, "\(error)", advice: advice)], nil)
            }
        }
    }

    private func life(_ certificate: Certificate) -> Finding {
        let remaining = certificate.notAfter - now
        if certificate.notBefore > now {
            return Finding(
                name, .failed, "\(certificate.subject): not valid yet", advice: "Check this machine's clock.")
        }
        if remaining <= 0 {
            return Finding(
                name, .failed, "\(certificate.subject): expired", advice: "Create another in Apple's portal.")
        }
        return Finding(
            name, .warning, when: remaining < 30 * 86_400,
            "\(certificate.subject): valid for \(remaining / 86_400) days",
            advice: "Create a new certificate in Apple's portal soon.")
    }

    private func purpose(_ certificate: Certificate) -> Finding {
        let list = certificate.value(ofExtension: AppleExtension.topics)
        let topics =
            list.map { bytes in
                bytes.withUnsafeBytes {
                    CertificateTopics(subjectUID: certificate.userID, topicsExtension: $0)
                }
            } ?? CertificateTopics(subjectUID: certificate.userID, topicsExtension: nil)
        let wanted = app.environment == .production ? AppleExtension.production : AppleExtension.sandbox
        let other = app.environment == .production ? AppleExtension.sandbox : AppleExtension.production
        if certificate.value(ofExtension: wanted) == nil, certificate.value(ofExtension: other) != nil {
            return Finding(
                name, .failed, "the certificate is not for \(app.environment.rawValue)",
                advice: "Change environment, or use the other certificate.")
        }
        guard let topics, !topics.allowed.isEmpty else {
            return Finding(name, .warning, "the certificate names no topic")
        }
        return topics.allowed.contains(app.topic)
            ? Finding("\(app.name) topic", .ok, app.topic)
            : Finding(
                "\(app.name) topic", .failed,
                "the certificate is for \(topics.allowed.joined(separator: ", ")), not for \(app.topic)",
                advice: "Change topic, or use the app's own certificate.")
    }
}
