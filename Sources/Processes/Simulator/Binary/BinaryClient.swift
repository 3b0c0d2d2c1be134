import APNs
import OpenSSL

/// Who is at the other end of a connection to the binary interface, or to the feedback service.
struct BinaryClient {
    /// The bundle id of the certificate; nil without one.
    var topic: String?
    /// False: there is a certificate, and it names none.
    var hasTopic = true

    init() {}

    /// Nil if the certificate is not good here.
    ///
    /// - Parameter fault: what a full check of the certificate holds against it.
    init?(
        _ certificate: Certificate, fault: CertificateFault?, environment: SimulatorOptions.Environment
    ) {
        guard fault == nil else { return nil }
        let outcome = ClientCertificateCheck.outcome(of: certificate, fault: nil, environment: environment)
        if case .refused(.badCertificateEnvironment) = outcome { return nil }
        topic = certificate.userID
        if case .refused = outcome { hasTopic = false }
        if topic?.isEmpty != false { hasTopic = false }
    }
}
