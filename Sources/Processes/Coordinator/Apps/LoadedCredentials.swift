import APNs
import EventLoop
import FarmConfiguration
import Glibc
import OpenSSL
import StoreProtocol

/// An app's credentials, read from their files and checked against the app's configuration.
enum LoadedCredentials {
    case key(SigningKey, id: String, team: String)
    case certificate(TLSIdentity)

    /// Why credentials cannot be used, in a sentence that names the file.
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// - Throws: if a file cannot be read or parsed, if the certificate is expired or not valid yet, or if the
    ///   certificate is for another topic or environment than the app's.
    static func load(_ app: AppConfiguration) throws(Problem) -> LoadedCredentials {
        switch app.credentials {
        case .key(let file, let id, let team):
            do { return .key(try SigningKey(file: file), id: id, team: team) } catch {
                throw Problem(description: "\(error)")
            }
        case .certificate(let file, let keyFile, let password):
            let identity: TLSIdentity
            do {
                identity = try TLSIdentity(file: file, keyFile: keyFile, password: password?.reveal())
            } catch { throw Problem(description: "\(error)") }
            if let fault = fault(of: identity.certificate, for: app, now: WallClock.seconds) {
                throw Problem(description: "\(file): \(fault)")
            }
            return .certificate(identity)
        }
    }

    /// The trusted CAs for the certificate of the app's gateway, in PEM; empty means the system's CAs.
    /// - Throws: if the CA file cannot be read or contains no certificate.
    static func trustedCA(of app: AppConfiguration) throws(Problem) -> [UInt8] {
        guard let file = app.caFile else { return [] }
        let pem: [UInt8]
        do { pem = try CredentialFile.read(file) } catch { throw Problem(description: error.description) }
        do { _ = try TLSContext(client: ClientSettings(trust: .authorities(pem))) } catch {
            throw Problem(description: "\(file): \(error)")
        }
        return pem
    }

    /// Identifies the credentials without revealing them. Different credentials have different fingerprints.
    var fingerprint: String {
        switch self {
        case .key(let key, let id, let team):
            ProviderTokenIdentity(keyID: id, teamID: team, keyFingerprint: key.fingerprint).description
        case .certificate(let identity): identity.certificate.fingerprint
        }
    }

    /// Why a certificate cannot be used for the app; nil if it can.
    static func fault(of certificate: Certificate, for app: AppConfiguration, now: Int64) -> String? {
        if now >= certificate.notAfter { return "the certificate has expired" }
        if now < certificate.notBefore { return "the certificate is not valid yet" }
        let sandbox = certificate.value(ofExtension: AppleExtension.sandbox) != nil
        let production = certificate.value(ofExtension: AppleExtension.production) != nil
        // A certificate from Apple names its environments. A certificate for a compatible gateway does not name an
        // environment, so it may be used in both.
        if sandbox || production, app.environment == .sandbox ? !sandbox : !production {
            return "the certificate is not for the environment \(app.environment.rawValue)"
        }
        guard let topics = topics(of: certificate), !app.topic.isEmpty else { return nil }
        let allows = Array(app.topic.utf8).withUnsafeBytes { topics.allows($0) }
        guard !allows else { return nil }
        return
            "the certificate does not allow the topic \(app.topic); it allows \(topics.allowed.joined(separator: ", "))"
    }

    private static func topics(of certificate: Certificate) -> CertificateTopics? {
        guard let value = certificate.value(ofExtension: AppleExtension.topics) else {
            return certificate.userID.flatMap { CertificateTopics(subjectUID: $0, topicsExtension: nil) }
        }
        return value.withUnsafeBytes {
            CertificateTopics(subjectUID: certificate.userID, topicsExtension: $0)
        }
    }
}

/// The size, the inode and the time of the last change of each credential file of an app. They show whether a file has
/// changed.
struct FileStamps: Equatable {
    private struct Stamp: Equatable {
        var inode: UInt64
        var size: Int64
        var seconds: Int
        var nanoseconds: Int
    }

    private let stamps: [Stamp?]

    init(_ paths: [String]) {
        stamps = paths.map { path in
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            let time = status.st_mtim
            return Stamp(
                inode: UInt64(status.st_ino), size: Int64(status.st_size), seconds: time.tv_sec,
                nanoseconds: time.tv_nsec)
        }
    }
}

/// Reads small files completely.
enum CredentialFile {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static func read(_ path: String) throws(Failure) -> [UInt8] {
        guard let file = fopen(path, "r") else {
            throw Failure(description: "\(path): \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { break }
            bytes.append(contentsOf: chunk[..<count])
        }
        guard ferror(file) == 0 else { throw Failure(description: "\(path): cannot be read") }
        return bytes
    }
}
