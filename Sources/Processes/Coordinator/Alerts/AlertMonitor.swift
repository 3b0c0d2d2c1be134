import EventLoop
import FarmConfiguration
import FarmPolicy
import Logging
import OpenSSL
import RedisClient
import StoreProtocol
import Web

/// Sends and records the alerts that ``AlertEvaluator`` fires or clears, for the scopes of this host.
@Loop final class AlertMonitor {
    private(set) var evaluator: AlertEvaluator
    private let farmRedis: FarmRedis
    private let host: String
    private let log: Logger
    private let command: AlertQueue
    private let webhook: AlertQueue
    private let history: AlertLog
    /// The scopes whose active alerts this host has already read from Redis. Another host may have recorded these
    /// alerts.
    private var adopted: Set<Alert.Scope> = []
    private var isAdopting = false

    init(
        _ settings: AlertSettings, host: String, farmRedis: FarmRedis, log: Logger,
        notifyApp: @escaping @Loop (_ app: String, FarmEvent) -> Void
    ) {
        (self.farmRedis, self.host, self.log) = (farmRedis, host, log)
        evaluator = AlertEvaluator(again: settings.again)
        command = AlertQueue("command", log: log)
        webhook = AlertQueue("webhook", log: log)
        history = AlertLog(farmRedis, host: host, log: log, notifyApp: notifyApp)
        apply(settings)
    }

    /// The number of notifications that failed three times or were dropped from a full queue.
    var failures: Int { command.failures + webhook.failures }

    /// Uses these settings for later notifications. The thresholds in the settings are not used here;
    /// ``AppAlertObserver`` applies them.
    func apply(_ settings: AlertSettings) {
        evaluator.again = settings.again
        (command.destination, webhook.destination) = (nil, nil)
        if let line = settings.command { command.destination = { await AlertCommand.run(line, $0) } }
        if let address = settings.webhook { webhook.destination = { await Self.post($0, to: address) } }
    }

    /// Fires and clears alerts.
    ///
    /// - Parameters:
    ///   - scopes: the scopes for which this host sends alerts.
    ///   - clock: Unix milliseconds.
    func evaluate(
        _ observations: [Alert: AlertEvaluator.Observation], scopes: Set<Alert.Scope>, clock: Int64
    ) {
        adopted.formIntersection(scopes)
        evaluator.forget { !scopes.contains($0) }
        if adopted != scopes, !isAdopting { adopt(scopes.subtracting(adopted)) }
        history.writePending()
        let known = observations.filter { adopted.contains($0.key.scope) }
        for news in evaluator.evaluate(known, at: .now, clock: clock) { record(news, at: clock) }
    }

    /// Clears an alert whose app or host no longer exists. Writes this to Redis and to the app's events, but sends no
    /// notification.
    func clearOrphan(_ alert: Alert, _ raised: FarmRedis.ActiveAlert, clock: Int64) {
        history.write(
            AlertMessage(
                what: .cleared, alert: alert, level: raised.level, text: raised.text, since: raised.since,
                at: clock, sender: host))
    }

    /// Drops queued notifications. A notification in progress gets up to two seconds to finish.
    func close() async {
        let deadline = ContinuousClock.now + .seconds(2)
        await command.close(by: deadline)
        await webhook.close(by: deadline)
    }

    /// Reads the active alerts of these scopes from Redis. Until then, alerts of these scopes are not evaluated; alerts
    /// of all other scopes are.
    private func adopt(_ scopes: Set<Alert.Scope>) {
        isAdopting = true
        Loop.task { [self] in
            defer { isAdopting = false }
            // After an error, the next call of ``evaluate(_:scopes:clock:)``, a second later, repeats the read.
            guard let all = try? await farmRedis.activeAlerts() else { return }
            for raised in all {
                guard let alert = Alert(id: raised.id), scopes.contains(alert.scope) else { continue }
                evaluator.adopt(alert, level: raised.level, text: raised.text, since: raised.since, at: .now)
            }
            adopted.formUnion(scopes)
        }
    }

    private func record(_ news: AlertEvaluator.Notification, at clock: Int64) {
        let message = AlertMessage(
            what: news.what, alert: news.alert, level: news.level, text: news.text, since: news.since,
            at: clock, sender: host)
        let level: Logger.Level = news.what == .cleared ? .notice : .error
        log.log(
            level: level, news.what == .cleared ? "alert cleared" : "alert",
            metadata: ["alert": "\(news.alert.kind.rawValue)", "text": "\(news.text)"])
        command.notify(message)
        webhook.notify(message)
        if news.what != .again { history.write(message) }
    }

    private static func post(_ message: AlertMessage, to address: WebhookAddress) async -> String? {
        do {
            let tls = address.usesTLS ? try TLSContext(client: ClientSettings()) : nil
            try await WebClient.post(
                message.json, to: .tcp(host: address.hostPort.host, port: address.hostPort.port),
                host: address.host, target: address.target.reveal(), tls: tls, timeout: .seconds(10))
            return nil
        } catch { return "\(address): \(error)" }
    }
}
