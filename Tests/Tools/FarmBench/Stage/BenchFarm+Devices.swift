import BenchKit
import FarmHarness
import Foundation

extension BenchFarm {
    /// The most device inputs that wait in Redis while ``register(_:)`` adds more.
    private static let mostWaiting = 100_000

    /// Registers the devices of some places, and waits until they are stored.
    func register(_ places: Range<Int>) async throws {
        for start in stride(from: places.lowerBound, to: places.upperBound, by: PreparedDevices.piece) {
            let piece = start..<min(start + PreparedDevices.piece, places.upperBound)
            try client.send(prepared: PreparedDevices.command(piece), replies: 1)
            while try waitingDevices() > Self.mostWaiting { try await Task.sleep(for: .milliseconds(20)) }
        }
        try await eventually("all devices are registered", within: .seconds(600)) {
            try self.waitingDevices() == 0
        }
    }

    /// The number of device inputs that are not finished.
    func waitingDevices() throws -> Int {
        try ["devices", "devices_taken"].reduce(0) {
            $0 + Int(try client.run("LLEN", "{pushfarm:demo}:\($1)").integer ?? 0)
        }
    }

    /// Runs `pushfarm segments count`.
    ///
    /// - Returns: the time that the command takes.
    func countSegment(_ expression: String) async throws -> Duration {
        let start = ContinuousClock.now
        let command = try Child(
            "segments", BuiltProgram.path, ["segments", "count", "--config", configuration, expression],
            in: (configuration as NSString).deletingLastPathComponent)
        guard try await command.wait(within: .seconds(60)) == .exited(0) else {
            throw Overdue(description: "segments count: \(command.error)")
        }
        return ContinuousClock.now - start
    }

    /// Pushes a campaign into its inbox.
    ///
    /// - Parameter fields: the fields after `id`, as JSON members without the outer braces.
    func startCampaign(_ id: String, _ fields: String) throws {
        let payload = String(decoding: BenchPayload.bytes, as: UTF8.self)
        try client.run(
            "RPUSH", "{pushfarm:demo}:campaigns", #"{"id":"\#(id)",\#(fields),"payload":\#(payload)}"#)
    }

    /// Whether the campaign is finished.
    func isFinished(_ id: String) throws -> Bool {
        try client.run("HGET", "{pushfarm:demo}:job:\(id)", "state").text == "finished"
    }
}
