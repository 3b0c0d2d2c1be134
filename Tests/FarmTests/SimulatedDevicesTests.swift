import FarmHarness
import Foundation
import Testing

/// A farm that sends background pushes to a simulator with devices.
@Suite(.startsProcesses) struct SimulatedDevicesTests {
    /// For the devices, 400 s pass in one second, so that their downloads take only milliseconds.
    private static let model = """
        time_factor: 400
        edition_size: 10MB
        profiles:
          awake: { share: 75%, delay: { p50: 10s, p99: 20s }, bandwidth: { spread: 1 } }
          force-quit: { share: 25%, force_quit: 100%, bandwidth: { spread: 1 } }
        """

    @Test func `devices are done after the pushes of a job, except devices with a force-quit app`()
        async throws
    {
        let folder = try TestFolder()
        let (model, done) = (folder.path + "/devices.yaml", folder.path + "/done.jsonl")
        try Data(Self.model.utf8).write(to: URL(fileURLWithPath: model))
        let farm = try await Farm(
            Farm.Options(simulatorOptions: ["--devices", model, "--done-to", done]))
        let tokens = Tokens.make(400)
        for round in 1...2 {
            let job = Job(
                id: "round-\(round)", tokens: tokens,
                payload: #"{"aps":{"content-available":1},"edition":"ed-2026-11-24"}"#,
                fields: #""push_type":"background""#)
            try farm.push([job])
            #expect(try await farm.finished(job.id).delivered == tokens.count)
            let report = try await eventually("the devices are idle") {
                let report = try Self.report(farm.gateway.control("devices"))
                return report.futureEvents == 0 && report.backgroundPushes == round * tokens.count
                    ? report : nil
            }
            let forceQuit = report.discarded["force_quit"] ?? 0
            #expect(report.devices == tokens.count && report.shownAlerts == 0)
            #expect(
                report.wakeUps == round * tokens.count - forceQuit && report.apiRequests == report.wakeUps)
            #expect(forceQuit.isMultiple(of: round))
            // About 300 devices have no force-quit app. The limits are six standard deviations (52) below and above 300.
            #expect((248...352).contains(report.done) && report.done == tokens.count - forceQuit / round)
            #expect(report.editions.map(\.edition) == ["ed-2026-11-24"])
            #expect(report.editions.first?.doneBySends == ["1": report.done])
        }
        let lines = try String(contentsOfFile: done, encoding: .utf8).split(separator: "\n")
        let doneTokens = try lines.map { try Self.decode(Done.self, String($0)).token }
        #expect(Set(doneTokens).count == lines.count && Set(doneTokens).isSubset(of: tokens))
        let page = try Self.decode(DonePage.self, farm.gateway.control("devices done 0 10000"))
        #expect(page.done.map(\.token) == doneTokens && page.next == lines.count)
    }

    private struct Report: Decodable {
        struct Edition: Decodable {
            var edition: String
            var doneBySends: [String: Int]
        }

        var devices, backgroundPushes, shownAlerts, wakeUps, apiRequests, done, futureEvents: Int
        var discarded: [String: Int]
        var editions: [Edition]
    }

    private struct Done: Decodable { var token: String }

    private struct DonePage: Decodable {
        var next: Int
        var done: [Done]
    }

    private static func report(_ text: String) throws -> Report { try decode(Report.self, text) }

    private static func decode<Value: Decodable>(_ type: Value.Type, _ text: String) throws -> Value {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: Data(text.utf8))
    }
}
