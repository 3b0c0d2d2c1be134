import EventLoop
import FarmStore
import Logging

/// What is announced in Redis: commands for hosts, and each app's bell.
///
/// Each message is a wake-up: any number of them leads to one look, and takes the memory of one.
extension Coordinator {
    func listen() {
        let bells = apps.values.map(\.store.keys.bell)
        let subscriber = RedisSubscriber(settings, channels: [Array(FarmKeys.commands.utf8)] + bells)
        subscriber.onMessage = { [unowned self] channel, message in heard(channel, message) }
        // Rings that were sent before are lost.
        subscriber.onReady = { [unowned self] in
            lookForOperationsSoon()
            for app in apps.keys { ring(app, Array(0..<configuration.shards)) }
        }
        subscriber.start()
        self.subscriber?.close()
        self.subscriber = subscriber
    }

    func heard(_ channel: [UInt8], _ message: [UInt8]) {
        let text = String(decoding: message, as: UTF8.self)
        if channel.elementsEqual(FarmKeys.commands.utf8) {
            obey(HostCommand(text))
        } else if let app = apps.values.first(where: { $0.store.keys.bell == channel }) {
            if text == "hold" { return app.lookSoon() }
            if !heardShards.note(text, app: app.name) {
                refused(
                    at: String(decoding: channel, as: UTF8.self),
                    "a message names shards that do not exist; there are \(configuration.shards)")
            }
            tellOfShards()
        }
    }

    /// Tells of a value from outside that is not used.
    /// - Parameter place: a key, a field of it, a channel.
    func refused(at place: String, _ reason: String) {
        guard refusedValues.isToBeTold(at: place, now: .now) else { return }
        log.warning("a value is refused", metadata: ["at": "\(place)", "reason": "\(reason)"])
    }
}
