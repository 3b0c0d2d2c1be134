import Foundation

/// What a simulator says of itself when it listens: the one line of `pushfarm simulator --json`.
struct SimulatorStarted: Codable, Sendable {
    var gateway: String
    var caFile: String
    var keyFile: String
    var keyID: String
    var team: String
    var bundle: String
    var control: String

    private enum CodingKeys: String, CodingKey {
        case gateway, team, bundle, control
        case caFile = "ca_file"
        case keyFile = "key_file"
        case keyID = "key_id"
    }

    var json: JSONValue {
        .object([
            "gateway": .string(gateway), "ca_file": .string(caFile), "key_file": .string(keyFile),
            "key_id": .string(keyID), "team": .string(team), "bundle": .string(bundle),
            "control": .string(control),
        ])
    }

    /// Nil while the line is not there as a whole.
    init?(line: String) {
        guard line.hasSuffix("\n"), let read = try? JSONDecoder().decode(Self.self, from: Data(line.utf8))
        else {
            return nil
        }
        self = read
    }

    init(
        gateway: String, caFile: String, keyFile: String, keyID: String, team: String, bundle: String,
        control: String
    ) {
        self.gateway = gateway
        self.caFile = caFile
        self.keyFile = keyFile
        self.keyID = keyID
        self.team = team
        self.bundle = bundle
        self.control = control
    }
}
