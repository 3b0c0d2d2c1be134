import EventLoop
import RedisClient
import StoreProtocol

/// Receives messages on Redis channels: commands for hosts, and wake-ups that name an app's shards with ready batches.
///
/// Equal messages are merged, so a flood of messages causes one read and needs the memory of one message.
@Loop final class WakeUpListener {
    private unowned let context: HostContext
    private var subscriber: RedisSubscriber?

    init(_ context: HostContext) { self.context = context }

    /// Subscribes to the channels of all current apps.
    func subscribe() {
        let channels = context.apps.all.map(\.store.keys.wakeUps)
        let subscriber = RedisSubscriber(
            context.settings, channels: [Array(FarmKeys.coordinators.utf8)] + channels)
        subscriber.onMessage = { [unowned self] channel, message in receive(message, on: channel) }
        // Messages from before the subscription are lost. So this host reads operators' commands now and treats every shard as if
        // a wake-up had named it.
        subscriber.onReady = { [unowned self] in
            carryOut(.operation)
            for app in context.apps.names { context.wakeUps.note(0..<context.shardCount, of: app) }
        }
        subscriber.start()
        self.subscriber?.close()
        self.subscriber = subscriber
    }

    func close() { subscriber?.close() }

    private func receive(_ message: [UInt8], on channel: [UInt8]) {
        let text = String(decoding: message, as: UTF8.self)
        if channel.elementsEqual(FarmKeys.coordinators.utf8) {
            carryOut(FarmMessage(text))
        } else if let app = context.apps.all.first(where: { $0.store.keys.wakeUps == channel }) {
            if text == "pauses" { return app.refreshSoon() }
            if !context.wakeUps.note(text, of: app.name) {
                context.logRefusedValue(
                    at: String(decoding: channel, as: UTF8.self),
                    reason: "a message names shards that do not exist; this farm has \(context.shardCount)")
            }
        }
    }

    /// Carries out a command that another host or an operator has announced.
    private func carryOut(_ command: FarmMessage) {
        switch command {
        case .hosts: context.registration.heartbeatSoon()
        case .hostLeft(let host): context.registration.hostLeft(host)
        case .leasesReleased(let app):
            context.apps[app]?.leases.machine.makeRoundDue()
            context.leases.wake()
        case .feedback(let app):
            context.apps[app]?.feedback.wake()
            context.apps[app]?.readFeedbackSoon()
        case .quarantineEnded: context.shards.releaseQuarantine()
        case .operation: context.operations.readSoon()
        case .refresh: for app in context.apps.all { app.refreshSoon() }
        }
    }
}
