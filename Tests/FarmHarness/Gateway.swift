import Foundation

/// A simulator process with a ledger, which is where deliveries are counted.
final class Gateway {
    /// What it says when it listens.
    struct Started: Decodable {
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
    }

    let started: Started
    let folder: String
    let process: Child
    private let ledgerFile: String

    /// - Parameter faults: lines for its control command, carried out at the start.
    init(in folder: String, faults: [String] = [], options: [String] = []) async throws {
        self.folder = folder + "/gateway"
        let ledger = folder + "/ledger.jsonl"
        ledgerFile = ledger
        let process = try Child(
            "simulator", BuiltProgram.path,
            ["simulator", "--json", "--port", "0", "--folder", self.folder, "--ledger", ledger] + options
                + faults.flatMap { ["--fault", $0] }, in: folder)
        self.process = process
        started = try await eventually("the simulator listens") {
            if process.hasEnded { throw Overdue(description: "the simulator ended: \(process.error)") }
            guard process.output.hasSuffix("\n") else { return nil }
            return try JSONDecoder().decode(Started.self, from: Data(process.output.utf8))
        }
    }

    /// Gives it a command, such as a fault from now on.
    @discardableResult
    func tell(_ line: String) throws -> String {
        let socket = try UnixSocket(started.control)
        try socket.send(Array((line + "\n").utf8))
        var answer: [UInt8] = []
        while answer.last != UInt8(ascii: "\n") { answer += try socket.receive() }
        let text = String(decoding: answer, as: UTF8.self)
        guard !text.contains("\"error\"") else { throw Overdue(description: "\(line): \(text)") }
        return text
    }

    func counter(_ name: String) throws -> Int {
        let counters = try JSONSerialization.jsonObject(with: Data(tell("counters").utf8)) as? [String: Any]
        return counters?[name] as? Int ?? 0
    }

    func ledger() throws -> Ledger { try Ledger(file: ledgerFile) }

    /// Waits until so many requests have come.
    func requests(_ count: Int, within limit: Duration = .seconds(60)) async throws {
        try await eventually("\(count) requests at the gateway", within: limit) {
            guard let data = FileManager.default.contents(atPath: ledgerFile) else { return false }
            return data.count { $0 == UInt8(ascii: "\n") } >= count
        }
    }
}
