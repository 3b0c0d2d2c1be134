import EventLoop
import FarmStore

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
            if text.hasPrefix("s ") { return tellOfDead(app.name, Self.shards(text.dropFirst(2))) }
            if text == "hold" {
                Loop.task { await app.credentials.look() }
                return
            }
            let all = text == "*"
            ring(app.name, all ? Array(0..<configuration.shards) : Self.shards(text))
        }
    }

    private static func shards(_ text: some StringProtocol) -> [Int] {
        text.split(separator: " ").compactMap { Int($0) }
    }
}
