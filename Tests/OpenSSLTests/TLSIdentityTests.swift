import COpenSSL
import Foundation
import OpenSSL
import Simulator
import Testing

@Suite struct TLSIdentityTests {
    private func client(_ bundle: String = "com.example") throws -> TLSIdentity {
        try ThrowAwayAuthority().client(bundle: bundle)
    }

    @Test(arguments: TLSIdentity.Encryption.allCases, ["pa55 wörd", ""])
    func `a p12 file of both encryptions returns the identity`(
        encryption: TLSIdentity.Encryption, password: String
    ) throws {
        let identity = try client()
        let file = try identity.pkcs12(password: password, encryption: encryption)
        #expect(try TLSIdentity(pkcs12: file, password: password) == identity)
    }

    @Test(arguments: TLSIdentity.Encryption.allCases)
    func `a wrong password has its own error`(encryption: TLSIdentity.Encryption) throws {
        let file = try client().pkcs12(password: "pa55", encryption: encryption)
        for password in ["", "pa56", "pa555"] {
            #expect(throws: CredentialError(.wrongPassword)) {
                try TLSIdentity(pkcs12: file, password: password)
            }
        }
    }

    @Test(arguments: [(Vectors.legacyPKCS12, "pa55"), (Vectors.legacyPKCS12NoPassword, "")])
    func `a recorded legacy file can be opened`(base64: String, password: String) throws {
        let file = try #require(Data(base64Encoded: base64, options: .ignoreUnknownCharacters))
        let identity = try TLSIdentity(pkcs12: Array(file), password: password)
        #expect(identity.certificate.userID == "com.example")
        #expect(identity.keyPEM.bytes == (Vectors.certificateKey + "\n").bytes)
    }

    @Test func `the legacy provider is not active in the rest of the process`() throws {
        let file = try client().pkcs12(password: "a", encryption: .legacy)
        _ = try TLSIdentity(pkcs12: file, password: "a")
        ERR_clear_error()
        let cipher = EVP_CIPHER_fetch(nil, "RC2-40-CBC", nil)
        EVP_CIPHER_free(cipher)
        ERR_clear_error()
        #expect(cipher == nil)
    }

    @Test func `bytes that are not a p12 file are refused at any length`() throws {
        let file = try client().pkcs12(password: "pa55")
        #expect(throws: CredentialError(.empty)) { try TLSIdentity(pkcs12: [], password: "") }
        for count in stride(from: 1, to: file.count, by: 7) {
            #expect(throws: CredentialError.self) {
                try TLSIdentity(pkcs12: Array(file.prefix(count)), password: "pa55")
            }
        }
        for index in stride(from: 0, to: file.count, by: 5) {
            var changed = file
            changed[index] ^= 0x10
            // Some changed bits leave the file valid, so the call may succeed or throw. The test only checks that the call
            // does not crash.
            _ = try? TLSIdentity(pkcs12: changed, password: "pa55")
        }
    }

    @Test(arguments: [Vectors.certificateKey, Vectors.certificateKeySEC1], [true, false])
    func `PEM is read with the key before or after the certificate`(key: String, isKeyFirst: Bool) throws {
        let text = isKeyFirst ? key + "\n" + Vectors.certificate : Vectors.certificate + "\n" + key
        let identity = try TLSIdentity(pem: text.bytes)
        #expect(identity.certificate.commonName == "Apple Push Services: com.example")
        #expect(identity.keyPEM.bytes == (Vectors.certificateKey + "\n").bytes)
        #expect(try TLSIdentity(pem: Vectors.certificate.bytes, key: key.bytes) == identity)
        #expect(try TLSIdentity(pem: identity.pem.bytes) == identity)
    }

    @Test(arguments: [Vectors.encryptedPKCS8, Vectors.encryptedSEC1])
    func `an encrypted key needs its password`(key: String) throws {
        let certificate = Vectors.certificate.bytes
        let identity = try TLSIdentity(pem: certificate, key: key.bytes, password: "pa55")
        #expect(identity.keyPEM.bytes == (Vectors.certificateKey + "\n").bytes)
        #expect(throws: CredentialError(.passwordNeeded)) {
            try TLSIdentity(pem: certificate, key: key.bytes)
        }
        #expect(throws: CredentialError(.wrongPassword)) {
            try TLSIdentity(pem: certificate, key: key.bytes, password: "pa56")
        }
        #expect(throws: CredentialError(.wrongPassword)) {
            try TLSIdentity(pem: certificate, key: key.bytes, password: "")
        }
    }

    @Test(arguments: [
        (Vectors.certificate, nil as String?, CredentialError.Problem.noPrivateKey),
        (Vectors.certificateKey, nil, .noCertificate),
        (Vectors.certificate, Vectors.rfc7515PrivateKey, .keyDoesNotMatch),
        (Vectors.certificate, Vectors.certificate, .noPrivateKey), (Vectors.certificate, "", .empty),
        ("", nil, .empty), ("hello", nil, .notPEM),
    ])
    func `an error names the missing or unsuitable part`(
        pem: String, key: String?, problem: CredentialError.Problem
    ) {
        #expect(throws: CredentialError(problem)) { try TLSIdentity(pem: pem.bytes, key: key?.bytes) }
    }

    @Test func `the chain is sorted and unrelated certificates are left out`() throws {
        let authority = try ThrowAwayAuthority()
        let identity = try authority.client(bundle: "com.example")
        let shuffled =
            try ThrowAwayAuthority(name: "A stranger").certificatePEM + authority.certificatePEM
            + identity.chainPEM + identity.keyPEM.bytes
        let read = try TLSIdentity(pem: shuffled)
        #expect(read.certificate == identity.certificate)
        #expect(read.chainPEM.starts(with: identity.chainPEM.prefix(400)))
        #expect(!String(decoding: read.chainPEM, as: UTF8.self).isEmpty)
    }

    @Test func `files are recognised by their contents and named in errors`() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pushfarm-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func write(_ name: String, _ bytes: [UInt8]) throws -> String {
            let file = folder.appendingPathComponent(name)
            try Data(bytes).write(to: file)
            return file.path
        }
        let identity = try client()
        let p12 = try write("a.p12", identity.pkcs12(password: "x", encryption: .legacy))
        let pem = try write("a.pem", identity.pem.bytes)
        let chain = try write("chain.pem", identity.chainPEM)
        let key = try write("key.pem", identity.keyPEM.bytes)
        let other = try write("other.pem", Vectors.rfc7515PrivateKey.bytes)
        let empty = try write("empty.pem", [])
        #expect(try TLSIdentity(file: p12, password: "x") == identity)
        #expect(try TLSIdentity(file: pem) == identity)
        #expect(try TLSIdentity(file: chain, keyFile: key) == identity)
        let errors: [(String, String?, String)] = [
            (p12, nil, "\(p12): wrong password"), (chain, nil, "\(chain): holds no private key"),
            (chain, chain, "\(chain): holds no private key"), (empty, nil, "\(empty): the file is empty"),
            (chain, empty, "\(empty): the file is empty"),
            (chain, other, "\(other): the private key does not belong to the certificate"),
            (chain, "\(key)x", "\(key)x: No such file or directory"),
        ]
        for (file, keyFile, text) in errors {
            let error = try #require(throws: CredentialError.self) {
                try TLSIdentity(file: file, keyFile: keyFile)
            }
            #expect("\(error)" == text)
        }
    }

    @Test func `an identity does not print its key`() throws {
        let identity = try client()
        var text = ""
        dump(identity, to: &text)
        #expect("\(identity)\(text)".contains("<secret>"))
        #expect(!text.contains("\(identity.keyPEM.bytes)"))
        #expect(!"\(identity)".contains("\(identity.keyPEM.bytes)".dropFirst().dropLast()))
    }
}
