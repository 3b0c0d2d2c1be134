import Foundation

/// The measured simulator in its own process, optionally bound to one core.
final class SimulatorProcess: Sendable {
    struct Failure: Error { let what: String }

    private struct Started: Decodable {
        var binary: String
        var authorityFile: String

        private enum CodingKeys: String, CodingKey {
            case binary
            case authorityFile = "ca_file"
        }
    }

    let port: UInt16
    let authorityFile: String
    /// The path of the simulator's temporary client certificate, a PEM file.
    let certificateFile: String
    private let process: Process

    init(program: String, folder: String, ledger: String?, core: String?) throws {
        process = Process()
        let arguments =
            [
                "simulator", "--json", "--port", "0", "--binary-port", "0", "--folder", folder + "/simulator",
                "--state-dir", folder, "--fault", "binary delay off",
            ] + (ledger.map { ["--ledger", $0] } ?? [])
        process.executableURL = URL(fileURLWithPath: core == nil ? program : "/usr/bin/taskset")
        process.arguments = core.map { ["-c", $0, program] + arguments } ?? arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw Failure(what: "the simulator did not come up") }
            line += more
        }
        let started = try JSONDecoder().decode(Started.self, from: line)
        guard let port = started.binary.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw Failure(what: "no port in \(started.binary)")
        }
        self.port = port
        authorityFile = started.authorityFile
        certificateFile = folder + "/simulator/push.pem"
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    /// User and system time of the simulator: the fields 14 and 15 of /proc/PID/stat, in hundredths of a second.
    var processorSeconds: Double {
        let stat =
            (try? String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)) ?? ""
        let fields = stat.split(separator: ")").last?.split(separator: " ") ?? []
        guard fields.count > 12 else { return 0 }
        return (Double(fields[11]) ?? 0) / 100 + (Double(fields[12]) ?? 0) / 100
    }
}
