import EventLoop
import FarmPolicy
import Logging
import PushModel
import RedisClient
import StoreProtocol

/// An alert in the form that commands and webhooks receive.
struct AlertMessage: Equatable, Sendable {
    var what: AlertEvaluator.Notification.Event
    var alert: Alert
    var level: Int
    var text: String
    /// When the alert fired, in Unix milliseconds.
    var since: Int64
    /// The time of this message in Unix milliseconds.
    var at: Int64
    /// The host that sends the alert.
    var sender: String

    var type: String { "alert.\(what.rawValue)" }

    /// The text fields of the alert, by name.
    var fields: [(name: String, value: String)] {
        var fields = [("type", type), ("alert", alert.kind.rawValue)]
        switch alert.scope {
        case .app(let name): fields.append(("app", name))
        case .host(let name): fields.append(("host", name))
        case .farm: break
        }
        if !alert.subject.isEmpty { fields.append(("subject", alert.subject)) }
        return fields + [("text", text), ("sent_by", sender)]
    }

    var numbers: [(name: String, value: Int64)] {
        [("level", Int64(level)), ("since", since), ("at", at)]
    }

    /// The alert's fields as environment variables, `PUSHFARM_ALERT_…=…`. A space replaces each control character of
    /// the values.
    var environment: [String] {
        let all = fields + numbers.map { ($0.name, String($0.value)) }
        return all.map { name, value in
            let plain = String(
                value.unicodeScalars.map { UTF8Text.isControl($0) ? " " : Character($0) })
            return "PUSHFARM_ALERT_\(name.uppercased())=\(plain)"
        }
    }

    var json: [UInt8] {
        var json = JSONText()
        json.beginObject()
        for (name, value) in fields { json.member(name, value) }
        for (name, value) in numbers { json.member(name, value) }
        json.endObject()
        return json.bytes
    }
}

/// Writes alerts to Redis in the order in which they fired or cleared. Alerts are queued during a Redis outage.
@Loop final class AlertLog {
    private let farmRedis: FarmRedis
    private let host: String
    private let log: Logger
    /// Called after an alert of an app was written to Redis; reports the alert to the app's producers.
    private let notifyApp: @Loop (_ app: String, FarmEvent) -> Void
    private var waiting: [AlertMessage] = []
    private var isWriting = false

    /// The maximum number of queued alerts. An alert that arrives when the queue is full replaces the oldest queued
    /// alert.
    private static let most = 1000

    init(
        _ farmRedis: FarmRedis, host: String, log: Logger,
        notifyApp: @escaping @Loop (_ app: String, FarmEvent) -> Void
    ) {
        (self.farmRedis, self.host, self.log, self.notifyApp) = (farmRedis, host, log, notifyApp)
    }

    func write(_ message: AlertMessage) {
        waiting.append(message)
        if waiting.count > Self.most { waiting.removeFirst() }
        writePending()
    }

    /// Writes queued alerts until a write fails. Call this function once a second.
    func writePending() {
        guard !isWriting, !waiting.isEmpty else { return }
        isWriting = true
        Loop.task {
            while !self.waiting.isEmpty {
                // Remove the alert from the queue before the write. Otherwise, alerts that fill the queue during the
                // write could drop this alert, and the code would then remove another alert.
                let message = self.waiting.removeFirst()
                guard await self.writeNow(message) else {
                    self.waiting.insert(message, at: 0)
                    break
                }
            }
            self.isWriting = false
        }
    }

    /// - Returns: false if Redis failed temporarily, so that the alert must be written again.
    private func writeNow(_ message: AlertMessage) async -> Bool {
        let alert = FarmRedis.ActiveAlert(
            id: message.alert.id, level: message.level, since: message.since, text: message.text)
        do throws(RedisError) {
            let isNew = try await farmRedis.write(alert, isCleared: message.what == .cleared, sender: host)
            if isNew, case .app(let app) = message.alert.scope { notifyApp(app, FarmEvent(message)) }
            return true
        } catch {
            if error.isTemporary { return false }
            log.error("cannot record an alert in Redis", error: error)
            return true
        }
    }
}

extension FarmEvent {
    fileprivate init(_ message: AlertMessage) {
        self.init(message.what == .cleared ? .alertCleared : .alertFired)
        for (name, value) in message.fields where name != "type" && name != "app" { add(name, value) }
        for (name, value) in message.numbers where name != "at" { add(name, String(value)) }
    }
}
