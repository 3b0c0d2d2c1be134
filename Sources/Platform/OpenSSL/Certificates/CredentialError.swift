/// Why a key, a certificate or a credential file cannot be used.
package struct CredentialError: Error, Hashable, Sendable {
    package enum Problem: Hashable, Sendable {
        case unreadable(String)
        case empty
        case notPEM
        /// A PEM block of the wrong kind. Both values are PEM labels, such as "CERTIFICATE".
        case wrongLabel(found: String, expected: String)
        case noCertificate
        case noPrivateKey
        case encrypted
        case passwordNeeded
        case wrongPassword
        case wrongKeyType(found: String)
        case wrongCurve(found: String)
        case keyDoesNotMatch
        case legacyProviderMissing(String)
        case malformed(String)
        case unusableText(String)
    }

    /// The file with the error; nil if the data did not come from a file.
    package var file: String?
    package let problem: Problem

    package init(_ problem: Problem, file: String? = nil) {
        self.problem = problem
        self.file = file
    }

    static func unreadable(_ file: String, _ reason: String) -> CredentialError {
        CredentialError(.unreadable(reason), file: file)
    }

    /// Creates an error from OpenSSL's error queue and empties the queue.
    static func taken() -> CredentialError {
        CredentialError(.malformed(OpenSSLFailure.taken().text))
    }

    /// Adds the name of `file` to every error that `body` throws.
    static func naming<Result: ~Copyable>(
        _ file: String, _ body: () throws(CredentialError) -> Result
    ) throws(CredentialError) -> Result {
        do throws(CredentialError) { return try body() } catch {
            throw CredentialError(error.problem, file: file)
        }
    }
}

extension CredentialError: CustomStringConvertible {
    package var description: String { (file.map { "\($0): " } ?? "") + problem.description }
}

extension CredentialError.Problem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable(let reason): reason
        case .empty: "the file is empty"
        case .notPEM: "not a PEM file: it has no -----BEGIN line"
        case .wrongLabel(let found, let expected): "holds a \(found), not a \(expected)"
        case .noCertificate: "holds no certificate"
        case .noPrivateKey: "holds no private key"
        case .encrypted: "the private key is encrypted; export it without a password"
        case .passwordNeeded: "the private key is encrypted and no password was given"
        case .wrongPassword: "wrong password"
        case .wrongKeyType(let found): "the key is of type \(found), not EC P-256"
        case .wrongCurve(let found): "the key is on the curve \(found), not on P-256"
        case .keyDoesNotMatch: "the private key does not belong to the certificate"
        case .legacyProviderMissing(let reason):
            "encrypted in an old way that needs OpenSSL's legacy provider, which does not load: \(reason)"
        case .malformed(let reason): "malformed: \(reason)"
        case .unusableText(let text): "cannot stand in a certificate: \"\(text)\""
        }
    }
}
