import Foundation

/// The addresses and files that a simulator prints when it listens. With `--json`, they are one line of JSON.
struct SimulatorStarted: Codable, Sendable {
    var gateway: String
    /// The address of the binary interface, or nil without this interface.
    var binary: String?
    var feedback: String?
    var caFile: String
    var keyFile: String
    var keyID: String
    var team: String
    /// The PEM file with the certificate and its key.
    var certificateFile: String
    var bundle: String
    var control: String

    private enum CodingKeys: String, CodingKey {
        case gateway, binary, feedback, team, bundle, control
        case caFile = "ca_file"
        case keyFile = "key_file"
        case keyID = "key_id"
        case certificateFile = "certificate_file"
    }

    var json: JSONValue {
        .object([
            "gateway": .string(gateway), "binary": .text(binary), "feedback": .text(feedback),
            "ca_file": .string(caFile), "key_file": .string(keyFile), "key_id": .string(keyID),
            "team": .string(team), "certificate_file": .string(certificateFile), "bundle": .string(bundle),
            "control": .string(control),
        ])
    }

    /// All gateways on one line.
    var addresses: String { [gateway, binary].compactMap(\.self).joined(separator: ", ") }

    /// The settings with which an app sends to the simulator's HTTP/2 gateway.
    func settings(of app: String) -> [String] {
        [
            "apps.\(app).gateway=\(gateway)", "apps.\(app).ca_file=\(caFile)",
            "apps.\(app).key.file=\(keyFile)", "apps.\(app).key.id=\(keyID)", "apps.\(app).key.team=\(team)",
        ]
    }

    /// The settings with which an app uses the simulator's binary interface and feedback service.
    func binarySettings(of app: String) -> [String] {
        [
            "apps.\(app).gateway=\(binary ?? "")", "apps.\(app).feedback=\(feedback ?? "")",
            "apps.\(app).ca_file=\(caFile)", "apps.\(app).certificate.file=\(certificateFile)",
            "apps.\(app).certificate.key_file=\(certificateFile)",
        ]
    }
}

extension SimulatorStarted {
    /// Returns nil when the line is not complete yet.
    init?(line: String) {
        guard line.hasSuffix("\n"), let read = try? JSONDecoder().decode(Self.self, from: Data(line.utf8))
        else {
            return nil
        }
        self = read
    }
}
