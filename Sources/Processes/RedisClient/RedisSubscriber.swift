package import EventLoop
import FarmPolicy
import RedisProtocol
import StoreProtocol

/// Subscribes to channels on its own connection. From ``start()`` until ``close()``, the subscriber replaces a lost
/// connection by a new one.
///
/// Messages that are sent while there is no connection are lost. So in ``onReady``, read from Redis what the lost
/// messages may have reported.
@Loop package final class RedisSubscriber {
    package var onMessage: @Loop (_ channel: [UInt8], _ message: [UInt8]) -> Void = { _, _ in }
    /// Called after the first successful subscription, and after the subscription that follows each reconnection.
    package var onReady: @Loop () -> Void = {}

    private let settings: RedisSettings
    private let channels: [[UInt8]]
    private var session: RedisSession?
    private var keeper: Task<Void, Never>?
    private var confirmed = 0
    private var silentTicks = 0
    private var heartbeat: Timer?
    private var isClosed = false

    package init(_ settings: RedisSettings, channels: [[UInt8]]) {
        precondition(!channels.isEmpty, "a subscriber has channels")
        (self.settings, self.channels) = (settings, channels)
    }

    package func start() {
        guard keeper == nil, !isClosed else { return }
        heartbeat = Timer { [unowned self] in sendPing() }
        keeper = Loop.task { await self.keepListening() }
    }

    package func close() {
        isClosed = true
        keeper?.cancel()
        heartbeat?.stop()
        session?.close()
        session = nil
    }

    private func keepListening() async {
        var backoff = BackOff.redis
        while !isClosed {
            // Errors are not logged here: the process has another connection to the same Redis, for commands, which
            // logs them.
            if let session = try? await RedisSession.open(settings), session.isOpen {
                guard !isClosed else { return session.close() }
                listen(on: session)
                await session.untilEnd()
                heartbeat?.stop()
                if confirmed == channels.count { backoff = BackOff.redis }
            }
            guard (try? await Loop.sleep(for: backoff.failed())) != nil else { return }
        }
    }

    private func listen(on session: RedisSession) {
        self.session = session
        (confirmed, silentTicks) = (0, 0)
        session.onMessage = { [unowned self] in receive($0) }
        session.onEnd = { [unowned self] _ in self.session = nil }
        var command = RESPCommand("SUBSCRIBE")
        for channel in channels { command.append(channel) }
        session.sendSubscription(command)
        heartbeat?.start(after: .seconds(5), every: .seconds(5))
    }

    private func receive(_ value: RESPValue) {
        silentTicks = 0
        guard let parts = value.array, parts.count >= 2, let kind = parts[0].text else {
            // Redis replied with an error, for example because the Redis user may not subscribe. End the connection;
            // the next connection subscribes again.
            session?.abandon()
            return
        }
        switch kind {
        case "subscribe":
            confirmed += 1
            if confirmed == channels.count { onReady() }
        case "message":
            if parts.count == 3, let channel = parts[1].bytes, let message = parts[2].bytes {
                onMessage(channel, message)
            }
        default: break
        }
    }

    /// Sends a PING. If Redis has not replied to the last two PINGs, ends the connection instead.
    private func sendPing() {
        silentTicks += 1
        guard silentTicks <= 2 else {
            session?.abandon()
            return
        }
        session?.sendSubscription(RESPCommand("PING"))
    }
}
