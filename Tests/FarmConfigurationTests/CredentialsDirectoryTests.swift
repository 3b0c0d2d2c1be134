import Foundation
import Testing

@testable import FarmConfiguration

/// Checks credential files that a service manager makes available to the service only.
struct CredentialsDirectoryTests {
    private static let text = """
        apps:
          demo:
            topic: com.example.demo
            key: { file: "${CREDENTIALS_DIRECTORY}/keys_a.p8", id: ABC123DEFG, team: DEF123GHIJ }
          other:
            topic: com.example.other
            certificate: { file: "${CREDENTIALS_DIRECTORY}/b.p12", password_file: "${CREDENTIALS_DIRECTORY}/b.secret" }
        """

    private static func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pf-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for name in ["keys_a.p8", "b.p12"] {
            try Data("x".utf8).write(to: folder.appendingPathComponent(name))
        }
        try Data("secret\n".utf8).write(to: folder.appendingPathComponent("b.secret"))
        return folder
    }

    @Test func `files are found in the credentials folder of the service`() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let farm = try read(
            Self.text, ["CREDENTIALS_DIRECTORY": folder.path], purpose: .coordinator)
        #expect(
            farm.app(named: "demo")?.credentials
                == .key(file: folder.path + "/keys_a.p8", id: "ABC123DEFG", team: "DEF123GHIJ"))
        #expect(
            farm.app(named: "other")?.credentials
                == .certificate(file: folder.path + "/b.p12", keyFile: nil, password: Password("secret")))
    }

    @Test func `without a credentials folder the error gives the reason`() throws {
        let error = #expect(throws: ConfigurationError.self) { try read(Self.text, purpose: .coordinator) }
        #expect(
            "\(try #require(error))".contains(
                "${CREDENTIALS_DIRECTORY}/keys_a.p8: CREDENTIALS_DIRECTORY is not set"), "\(error as Any)")
    }

    @Test func `a command that uses only Redis ignores the files`() throws {
        #expect(try read(Self.text).apps.count == 2)
    }

    @Test func `no other variable is read`() throws {
        let text = Self.text.replacingOccurrences(of: "${CREDENTIALS_DIRECTORY}/keys", with: "${HOME}/keys")
        let farm = try read(text, ["HOME": "/root"])
        #expect(
            farm.app(named: "demo")?.credentials
                == .key(file: "/srv/etc/${HOME}/keys_a.p8", id: "ABC123DEFG", team: "DEF123GHIJ"))
    }
}
