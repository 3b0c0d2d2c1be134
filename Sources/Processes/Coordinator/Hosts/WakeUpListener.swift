import EventLoop
import RedisClient
import StoreProtocol

/// Receives messages of Redis channels: commands for hosts, and wake-ups with the shards of an app that have batches.
///
/// Each message is a wake-up: any number of them leads to one look, and takes the memory of one.
@Loop final class WakeUpListener {
    private let context: HostContext
    private let apps: HostedApps
    private let wakeUps: ShardWakeUps
    private var subscriber: RedisSubscriber?
    /// Called for each command.
    var onCommand: @Loop (HostCommand) -> Void = { _ in }

    init(_ context: HostContext, _ apps: HostedApps, _ wakeUps: ShardWakeUps) {
        (self.context, self.apps, self.wakeUps) = (context, apps, wakeUps)
    }

    /// Subscribes to the channels of the apps that there are now.
    func subscribe() {
        let channels = apps.all.map(\.store.keys.wakeUps)
        let subscriber = RedisSubscriber(
            context.settings, channels: [Array(FarmKeys.commands.utf8)] + channels)
        subscriber.onMessage = { [unowned self] channel, message in receive(message, on: channel) }
        // Messages that were sent before are lost.
        subscriber.onReady = { [unowned self] in
            onCommand(.operation)
            for app in apps.names { wakeUps.note(0..<context.shards, of: app) }
        }
        subscriber.start()
        self.subscriber?.close()
        self.subscriber = subscriber
    }

    func close() { subscriber?.close() }

    private func receive(_ message: [UInt8], on channel: [UInt8]) {
        let text = String(decoding: message, as: UTF8.self)
        if channel.elementsEqual(FarmKeys.commands.utf8) {
            onCommand(HostCommand(text))
        } else if let app = apps.all.first(where: { $0.store.keys.wakeUps == channel }) {
            if text == "pauses" { return app.refreshSoon() }
            if !wakeUps.note(text, of: app.name) {
                context.logRefusedValue(
                    at: String(decoding: channel, as: UTF8.self),
                    reason: "a message names shards that do not exist; there are \(context.shards)")
            }
        }
    }
}
