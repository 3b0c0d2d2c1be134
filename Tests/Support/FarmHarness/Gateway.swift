import Foundation

/// A simulator process. Tests count deliveries in its ledger.
package final class Gateway {
    /// The JSON that the simulator prints when it listens.
    package struct Started: Decodable {
        package var gateway: String
        /// The address of the binary interface; nil if the simulator has no binary interface.
        package var binary: String?
        package var feedback: String?
        package var caFile: String
        package var keyFile: String
        package var keyID: String
        package var team: String
        /// The path of a PEM file with a client certificate and its key.
        package var certificateFile: String
        /// The path of a PEM file with an app's push certificate and its key.
        package var pushCertificateFile: String {
            (certificateFile as NSString).deletingLastPathComponent + "/push.pem"
        }
        package var bundle: String
        package var control: String

        private enum CodingKeys: String, CodingKey {
            case gateway, binary, feedback, team, bundle, control
            case caFile = "ca_file"
            case keyFile = "key_file"
            case keyID = "key_id"
            case certificateFile = "certificate_file"
        }
    }

    package let started: Started
    package let folder: String
    package let process: Child
    package let ledgerFile: String
    /// How much of the ledger has been read: the number of bytes, and the number of lines in these bytes.
    private var counted: (bytes: UInt64, lines: Int) = (0, 0)

    /// - Parameters:
    ///   - faults: control commands that the simulator executes at its start.
    ///   - hasLedger: if false, tests see requests only in the simulator's counters.
    package init(
        in folder: String, faults: [String] = [], options: [String] = [], prefix: [String] = [],
        hasLedger: Bool = true
    ) async throws {
        self.folder = folder + "/gateway"
        let ledger = folder + "/ledger.jsonl"
        ledgerFile = ledger
        let process = try Child(
            "simulator", BuiltProgram.path,
            ["simulator", "--json", "--port", "0", "--folder", self.folder]
                + (hasLedger ? ["--ledger", ledger] : []) + options + faults.flatMap { ["--fault", $0] },
            in: folder, prefix: prefix)
        self.process = process
        started = try await eventually("the simulator listens") {
            if process.hasEnded { throw Overdue(description: "the simulator ended: \(process.error)") }
            guard process.output.hasSuffix("\n") else { return nil }
            return try JSONDecoder().decode(Started.self, from: Data(process.output.utf8))
        }
    }

    /// Sends a control command, such as a fault, to the simulator.
    @discardableResult
    package func control(_ line: String) throws -> String {
        let socket = try UnixSocket(started.control)
        try socket.send(Array((line + "\n").utf8))
        var reply: [UInt8] = []
        while reply.last != UInt8(ascii: "\n") { reply += try socket.receive() }
        let text = String(decoding: reply, as: UTF8.self)
        guard !text.contains("\"error\"") else { throw Overdue(description: "\(line): \(text)") }
        return text
    }

    package func counter(_ name: String) throws -> Int { try counters()[name] as? Int ?? 0 }

    /// Returns a counter of the simulator's binary interface.
    package func binaryCounter(_ name: String) throws -> Int {
        (try counters()["binary"] as? [String: Any])?[name] as? Int ?? 0
    }

    private func counters() throws -> [String: Any] {
        try JSONSerialization.jsonObject(with: Data(control("counters").utf8)) as? [String: Any] ?? [:]
    }

    /// Waits until the simulator has received `count` requests.
    package func requests(_ count: Int, within limit: Duration = .seconds(60)) async throws {
        try await eventually("\(count) requests at the gateway", within: limit) {
            try requestCount() >= count
        }
    }

    /// Returns the number of received requests. Reads only the new part of the ledger.
    package func requestCount() throws -> Int {
        guard let file = FileHandle(forReadingAtPath: ledgerFile) else { return 0 }
        defer { try? file.close() }
        try file.seek(toOffset: counted.bytes)
        let data = try file.readToEnd() ?? Data()
        counted.bytes += UInt64(data.count)
        counted.lines += data.withUnsafeBytes { $0.count { $0 == UInt8(ascii: "\n") } }
        return counted.lines
    }
}
