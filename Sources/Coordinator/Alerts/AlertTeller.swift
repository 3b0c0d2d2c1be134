import EventLoop
import FarmConfiguration
import Logging
import TLS
import Transport
import Web

/// Tells alerts as the configuration wants it: by a command, by a webhook, by both or by none.
@Loop final class AlertTeller {
    private let lanes: [AlertLane]

    init(_ settings: AlertSettings, log: Logger) {
        var lanes: [AlertLane] = []
        if let command = settings.command {
            lanes.append(AlertLane("command", log: log) { await AlertCommand.run(command, $0) })
        }
        if let webhook = settings.webhook {
            lanes.append(AlertLane("webhook", log: log) { await Self.post($0, to: webhook) })
        }
        self.lanes = lanes
    }

    /// Alerts that were told in none of three tries.
    var failures: Int { lanes.reduce(0) { $0 + $1.failures } }

    func tell(_ message: AlertMessage) {
        for lane in lanes { lane.tell(message) }
    }

    /// Tells nothing more; what is being told may be finished until then.
    func close(by deadline: ContinuousClock.Instant) async {
        for lane in lanes { await lane.close(by: deadline) }
    }

    private static func post(_ message: AlertMessage, to address: WebhookAddress) async -> String? {
        do {
            let tls = address.usesTLS ? try TLSContext(client: ClientSettings()) : nil
            try await WebClient.post(
                message.json, to: .tcp(host: address.place.host, port: address.place.port),
                host: address.host, target: address.target.reveal(), tls: tls, timeout: .seconds(10))
            return nil
        } catch { return "\(address): \(error)" }
    }
}
