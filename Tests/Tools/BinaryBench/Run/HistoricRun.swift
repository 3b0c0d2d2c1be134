import BenchKit
import FarmHarness
import Foundation

/// Runs an experiment with one historic sender and its own simulator.
struct HistoricRun {
    let experiment: Experiment
    let habit: ReadingHabit
    /// The sender that waits after each push is slow, so it sends only for this number of seconds.
    let budget: Double
    /// The seed of the gateway's random decisions.
    let seed: Int

    func run() async throws -> Tally {
        let folder = try TestFolder()
        let gateway = try await Gateway.counting(in: folder.path, experiment, seed: seed)
        let length = experiment.part(for: habit, budget: budget)
        let start = ContinuousClock.now
        let senders = try (0..<experiment.senders).map { number in
            try Child(
                "sender\(number)", CommandLine.arguments[0],
                ["send", order(number, length, gateway.started)], in: folder.path)
        }
        if experiment.kills {
            try await eventually("half of the pushes have arrived", within: .seconds(600)) {
                try gateway.count(.binary).accepted >= length / 2
            }
            senders[0].signal(SIGKILL)
        }
        var claim = HistoricSender.Claim()
        for (number, sender) in senders.enumerated() {
            let end = try await sender.wait(within: .seconds(3_600))
            if experiment.kills, number == 0 { continue }
            guard end == .exited(0) else { throw Overdue(description: "sender: \(end) \(sender.error)") }
            let part = try JSONDecoder().decode(HistoricSender.Claim.self, from: Data(sender.output.utf8))
            claim.sent += part.sent
            claim.refused += part.refused
        }
        claim.seconds = (ContinuousClock.now - start).seconds
        // The simulator counts a connection as closed after it has read all input of the connection.
        try await eventually("all connections are closed") { try gateway.count(.binary).openConnections == 0 }
        return Tally(
            experiment, sender: habit.name, length: length, try gateway.count(.binary), claim: claim)
    }

    private func order(_ number: Int, _ length: Int, _ started: Gateway.Started) throws -> String {
        let order = HistoricSender.Order(
            tokens: experiment.tokens, length: length, habit: habit, number: number,
            senders: experiment.senders, port: UInt16(started.binary?.split(separator: ":").last ?? "") ?? 0,
            authorityFile: started.caFile,
            identityFile: started.pushCertificateFile)
        return String(decoding: try JSONEncoder().encode(order), as: UTF8.self)
    }
}
