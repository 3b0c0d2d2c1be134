import EventLoop
import FarmConfiguration
import Logging
import OpenSSL
import Transport
import Web

/// Tells alerts as the configuration wants it: by a command, by a webhook, by both or by none.
@Loop final class AlertNotifier {
    private let command: AlertQueue
    private let webhook: AlertQueue

    init(_ settings: AlertSettings, log: Logger) {
        command = AlertQueue("command", log: log)
        webhook = AlertQueue("webhook", log: log)
        follow(settings)
    }

    /// Tells by these from now on.
    func follow(_ settings: AlertSettings) {
        (command.way, webhook.way) = (nil, nil)
        if let line = settings.command { command.way = { await AlertCommand.run(line, $0) } }
        if let address = settings.webhook { webhook.way = { await Self.post($0, to: address) } }
    }

    /// Alerts whose notification failed three times.
    var failures: Int { command.failures + webhook.failures }

    func notify(_ message: AlertMessage) {
        command.notify(message)
        webhook.notify(message)
    }

    /// Sends nothing more; a notification under way may finish until then.
    func close(by deadline: ContinuousClock.Instant) async {
        await command.close(by: deadline)
        await webhook.close(by: deadline)
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
