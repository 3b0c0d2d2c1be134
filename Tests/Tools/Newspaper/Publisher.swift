import FarmHarness
import Foundation

/// The publisher's program: it reads which devices have the edition, and reports these devices to the farm.
struct Publisher {
    private let file: FileHandle
    private let redis: BlockingRedisClient
    private let campaign: String
    private var rest = Data()
    /// The number of devices that were reported as done.
    private(set) var reported = 0

    /// The greatest number of devices in one report.
    private static let group = 10_000

    /// - Parameter path: the file to which the simulator writes its done reports.
    init(doneFile path: String, redis: BlockingRedisClient, campaign: String) throws {
        if !FileManager.default.fileExists(atPath: path) {
            _ = FileManager.default.createFile(atPath: path, contents: nil)
        }
        file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        (self.redis, self.campaign) = (redis, campaign)
    }

    /// Reports the devices that are done since the last call.
    mutating func report() throws {
        rest += try file.readToEnd() ?? Data()
        guard let end = rest.lastIndex(of: UInt8(ascii: "\n")) else { return }
        let lines = rest[...end].split(separator: UInt8(ascii: "\n"))
        rest = Data(rest[rest.index(after: end)...])
        let devices = try lines.map { line in
            let done = try JSONDecoder().decode(Done.self, from: line)
            guard let number = NewspaperDevices.number(ofToken: done.token) else {
                throw Overdue(description: "unknown token \(done.token)")
            }
            return "\"" + NewspaperDevices.id(number) + "\""
        }
        for start in stride(from: 0, to: devices.count, by: Self.group) {
            let group = devices[start..<min(start + Self.group, devices.count)].joined(separator: ",")
            try redis.run(
                "RPUSH", "{pushfarm:demo}:done", #"{"campaign":"\#(campaign)","devices":[\#(group)]}"#)
        }
        reported += devices.count
    }

    private struct Done: Decodable { var token: String }
}
