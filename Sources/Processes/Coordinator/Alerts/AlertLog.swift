import EventLoop
import FarmPolicy
import Logging
import RedisClient
import StoreProtocol

/// Writes alerts into Redis in the order in which they came up; while Redis is away they wait.
@Loop final class AlertLog {
    private let registry: FarmRegistry
    private let host: String
    private let log: Logger
    /// Tells producers of an app's alert.
    private let notifyApp: @Loop (_ app: String, FarmEvent) -> Void
    private var waiting: [AlertMessage] = []
    private var isWriting = false

    /// Older alerts interest no operator.
    private static let most = 1000

    init(
        _ registry: FarmRegistry, host: String, log: Logger,
        notifyApp: @escaping @Loop (_ app: String, FarmEvent) -> Void
    ) {
        (self.registry, self.host, self.log, self.notifyApp) = (registry, host, log, notifyApp)
    }

    func write(_ message: AlertMessage) {
        waiting.append(message)
        if waiting.count > Self.most { waiting.removeFirst() }
        writePending()
    }

    /// Goes on where Redis has stopped it. To be called once a second.
    func writePending() {
        guard !isWriting, !waiting.isEmpty else { return }
        isWriting = true
        Loop.task {
            while !self.waiting.isEmpty {
                // Taken out first: while it is written others come, and the oldest may have to go.
                let message = self.waiting.removeFirst()
                guard await self.writeNow(message) else {
                    self.waiting.insert(message, at: 0)
                    break
                }
            }
            self.isWriting = false
        }
    }

    /// - Returns: false when Redis cannot do it now.
    private func writeNow(_ message: AlertMessage) async -> Bool {
        let alert = FarmRegistry.RaisedAlert(
            id: message.alert.id, level: message.level, since: message.since, text: message.text)
        do throws(RedisError) {
            let isNew = try await registry.write(alert, isCleared: message.what == .cleared, sender: host)
            if isNew, case .app(let app) = message.alert.scope { notifyApp(app, FarmEvent(message)) }
            return true
        } catch {
            if error.isTemporary { return false }
            log.error("cannot record an alert in Redis", metadata: ["error": "\(error)"])
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
