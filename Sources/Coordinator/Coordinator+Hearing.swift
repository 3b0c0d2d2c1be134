import EventLoop
import FarmStore
import Logging

/// What is announced in Redis: commands for hosts, and each app's bell.
extension Coordinator {
    func listen() {
        let bells = apps.values.map(\.store.keys.bell)
        let subscriber = RedisSubscriber(settings, channels: [Array(FarmKeys.commands.utf8)] + bells)
        subscriber.onMessage = { [unowned self] channel, message in heard(channel, message) }
        // Rings that were sent before are lost.
        subscriber.onReady = { [unowned self] in
            Loop.task { await self.lookForOperations() }
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
            if text.hasPrefix("s ") { return tellOfDead(app.name, shards(text.dropFirst(2), from: channel)) }
            if text == "hold" {
                Loop.task { await app.credentials.look() }
                return
            }
            let all = text == "*"
            ring(app.name, all ? Array(0..<configuration.shards) : shards(text, from: channel))
        }
    }

    /// The shards that a message names; what is none is refused.
    private func shards(_ text: some StringProtocol, from channel: [UInt8]) -> [Int] {
        let words = text.split(separator: " ")
        let shards = words.compactMap { word in
            Int(foreign: word).flatMap { (0..<configuration.shards).contains($0) ? $0 : nil }
        }
        if shards.count < words.count {
            refused(
                at: String(decoding: channel, as: UTF8.self),
                "a message names shards that do not exist; there are \(configuration.shards)")
        }
        return shards
    }

    /// Tells of a value from outside that is not used.
    /// - Parameter place: a key, a field of it, a channel.
    func refused(at place: String, _ reason: String) {
        guard refusedValues.isToBeTold(at: place, now: .now) else { return }
        log.warning("a value is refused", metadata: ["at": "\(place)", "reason": "\(reason)"])
    }
}
