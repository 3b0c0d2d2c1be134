import EventLoop
import OpenSSL

/// Throw-away credentials in a folder. Missing credentials, and credentials that expire soon, are created again.
package struct SimulatorCredentials: Sendable {
    /// The key id of the folder's signing key.
    package static let keyID = "SIMULATOR1"
    /// The team id of the folder's signing key.
    package static let teamID = "PUSHFARM01"
    /// The password of ``clientPKCS12``.
    package static let password = "simulator"

    /// A certificate with fewer seconds of validity left is created again.
    private static let leastLifetime: Int64 = 7 * 86_400

    package let folder: String
    /// The PEM file with the certificate of the authority that clients must trust.
    package var authorityFile: String { folder + "/ca.pem" }
    package var signingKeyFile: String { folder + "/AuthKey_\(Self.keyID).p8" }
    package var clientPKCS12: String { folder + "/push.p12" }
    package var clientPEM: String { folder + "/push.pem" }
    /// The bundle id in the client certificate.
    package let bundle: String

    let authorityPEM: [UInt8]
    let server: TLSIdentity

    package init(
        folder: String, serverNames: [String], bundle: String
    ) throws(SimulatorError) {
        self.folder = folder
        self.bundle = bundle
        try SimulatorFile.makeFolder(folder)
        do {
            let authority = try Self.authority(in: folder)
            authorityPEM = authority.certificatePEM
            try SimulatorFile.write(authorityPEM, to: folder + "/ca.pem")
            server = try Self.server(in: folder, authority, names: serverNames)
            try Self.makeClient(in: folder, authority, bundle: bundle)
        } catch let error as CredentialError {
            throw .unusable("\(folder): \(error)")
        } catch let error as SimulatorError {
            throw error
        } catch {
            preconditionFailure("no other error is thrown")
        }
        if !SimulatorFile.exists(signingKeyFile) {
            try SimulatorFile.write(SigningKey.makePEM().bytes, to: signingKeyFile)
        }
    }

    private static func authority(in folder: String) throws -> ThrowAwayAuthority {
        let file = folder + "/authority.pem"
        if SimulatorFile.exists(file) { return try ThrowAwayAuthority(pem: try SimulatorFile.read(file)) }
        let authority = try ThrowAwayAuthority(name: "Pushfarm simulator")
        try SimulatorFile.write(authority.pem.bytes, to: file)
        return authority
    }

    private static func server(
        in folder: String, _ authority: ThrowAwayAuthority, names: [String]
    ) throws -> TLSIdentity {
        let file = folder + "/server.pem"
        if SimulatorFile.exists(file) {
            let identity = try TLSIdentity(pem: try SimulatorFile.read(file))
            let certificate = identity.certificate
            let served = Set(certificate.hostNames + certificate.addresses)
            if isFresh(certificate), served.isSuperset(of: names.map(Self.written)) { return identity }
        }
        let identity = try authority.server(names: names)
        try SimulatorFile.write(identity.pem.bytes, to: file)
        return identity
    }

    private static func makeClient(
        in folder: String, _ authority: ThrowAwayAuthority, bundle: String
    ) throws {
        let (pem, archive) = (folder + "/push.pem", folder + "/push.p12")
        if SimulatorFile.exists(pem), SimulatorFile.exists(archive) {
            let identity = try TLSIdentity(pem: try SimulatorFile.read(pem))
            if isFresh(identity.certificate), identity.certificate.userID == bundle { return }
        }
        let identity = try authority.client(
            bundle: bundle,
            topics: [
                ThrowAwayAuthority.Topic(bundle, kinds: ["app"]),
                ThrowAwayAuthority.Topic("\(bundle).voip", kinds: ["voip"]),
                ThrowAwayAuthority.Topic("\(bundle).complication", kinds: ["complication"]),
            ])
        try SimulatorFile.write(identity.pem.bytes, to: pem)
        try SimulatorFile.write(try identity.pkcs12(password: password), to: archive)
    }

    private static func isFresh(_ certificate: Certificate) -> Bool {
        certificate.notAfter - WallClock.milliseconds / 1000 > leastLifetime
    }

    /// Returns a host name or an address in lower case, for the comparison with the names of a certificate. An IPv6
    /// address must have its usual short form: with another form, each start makes a new certificate.
    private static func written(_ name: String) -> String { name.lowercased() }
}

extension SimulatorCredentials {
    /// The part of `pushfarm.yaml` that connects a farm's app to this gateway.
    package func instructions(port: UInt16) -> String {
        """
        apps:
          demo:
            topic: \(bundle)
            gateway: https://localhost:\(port)
            ca_file: \(authorityFile)
            key: { file: \(signingKeyFile), id: \(Self.keyID), team: \(Self.teamID) }
            # or, with PUSH_P12_PASSWORD=\(Self.password) in the environment:
            # certificate: { file: \(clientPKCS12), password_env: PUSH_P12_PASSWORD }
        """
    }
}
