package import EventLoop
package import FarmPolicy
package import Logging
package import RedisProtocol
package import StoreProtocol

/// A connection to one Redis that reconnects by itself and loads the farm's scripts.
///
/// Calls are pipelined: any number of calls may wait for replies. While there is no connection, a call fails at once.
/// The caller decides whether to repeat the call; nearly every ``Request`` can be repeated. From ``start()`` until
/// ``close()``, a lost connection is replaced by a new one.
@Loop package final class RedisConnection {
    /// Called when a connection is established. `isOtherServer` is true if Redis has restarted, or was replaced by
    /// another Redis, since the last connection. In both cases, the latest writes may be lost.
    package var onReady: @Loop (_ isOtherServer: Bool) -> Void = { _ in }
    /// Called with the reason when a connection has ended, and after each failed attempt to connect.
    package var onLoss: @Loop (RedisError) -> Void = { _ in }
    /// Called once when Redis becomes unreachable, and once when it is reachable again. If the connection is lost and
    /// the first attempt to reconnect succeeds, this does not count as an outage.
    package var onOutage: @Loop (Outage) -> Void = { _ in }
    /// Called when a number in a reply exceeded `WholeNumber.limit`. The caller gets the nearest allowed number
    /// instead. `step` names the step and the app.
    package var onClampedNumber: @Loop (_ step: String) -> Void = { _ in }
    package let settings: RedisSettings
    /// Redis's time, which decides whether the deadline of a push has passed.
    package private(set) var clock = RedisClock()

    package enum Outage: Equatable, Sendable {
        case began(RedisError)
        case ended(after: Duration)
    }

    private var outageSince: ContinuousClock.Instant?
    private var session: RedisSession?
    /// The hash by which Redis knows each script. A script has the same hash in every Redis.
    private var hashes: [Script: [UInt8]] = [:]
    private var serverRunID: String?
    private var keeper: Task<Void, Never>?
    private var readyWaiters: [CheckedContinuation<Void, Never>] = []
    private(set) var lastError = RedisError.notYetConnected
    private var isClosed = false
    private var tries = 0
    private lazy var clockTimer = Timer { [unowned self] in readClock() }

    package init(_ settings: RedisSettings) {
        self.settings = settings
    }

    package var isReady: Bool { session != nil }

    /// The number of calls that wait for a reply.
    package var pendingCount: Int { session?.pendingCount ?? 0 }

    /// Begins to connect. Reconnects until ``close()``.
    package func start() {
        guard keeper == nil, !isClosed else { return }
        keeper = Loop.task { await self.keepConnected() }
    }

    /// Waits until there is a connection, or until ``close()``.
    package func whenReady() async {
        guard session == nil, !isClosed else { return }
        await withCheckedContinuation { readyWaiters.append($0) }
    }

    /// Closes the connection permanently. Pending calls get an error.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        clockTimer.stop()
        keeper?.cancel()
        lastError = .closed
        let session = session
        self.session = nil
        session?.close()
        wakeReadyWaiters()
    }

    /// Sends a command. `then` is called exactly once, on the loop. An error reply counts as a failure.
    package func send(
        _ command: RESPCommand, blocking: Duration = .zero,
        then: @escaping @Loop (Result<RESPValue, RedisError>) -> Void
    ) {
        guard let session else { return then(.failure(lastError)) }
        session.send(command, timeout: settings.timeout + blocking) { result in
            then(result.flatMap { value in value.error.map { .failure(RedisError($0)) } ?? .success(value) })
        }
    }

    /// Sends a command and waits for its reply. An error reply is thrown.
    package func call(_ command: RESPCommand, blocking: Duration = .zero) async throws(RedisError)
        -> RESPValue
    {
        let result = await withCheckedContinuation { continuation in
            send(command, blocking: blocking) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Runs a script. If Redis has lost the script, for example after a restart, loads it and runs it again.
    /// - Parameter command: EVALSHA with the hash of the script.
    func run(
        _ script: Script, _ command: RESPCommand, blocking: Duration = .zero,
        then: @escaping @Loop (Result<RESPValue, RedisError>) -> Void
    ) {
        send(command, blocking: blocking) { result in
            guard case .failure(.waitAndRepeat(let error)) = result, error.code == "NOSCRIPT" else {
                return then(result)
            }
            // Do not wait for the reply to the first command: Redis runs the commands in their order.
            self.send(script.loadCommand) { _ in }
            self.send(command, blocking: blocking, then: then)
        }
    }

    /// The hash of a script in Redis; nil before the first connection, or if the Redis user may not run scripts.
    func hash(of script: Script) -> [UInt8]? {
        hashes[script]
    }
}

extension RedisConnection {
    /// The timeout for connecting. Most attempts have a short timeout, so that a restored network is noticed within a
    /// second. Every fourth attempt uses the full timeout, for networks with long delays.
    private var dialTimeout: Duration {
        tries.isMultiple(of: 4) ? settings.connectTimeout : min(settings.connectTimeout, .seconds(1))
    }

    private func keepConnected() async {
        var backoff = BackOff.redis
        while !isClosed {
            do throws(RedisError) {
                let session = try await connect()
                backoff = BackOff.redis
                await session.untilEnd()
            } catch {
                lastError = isClosed ? .closed : error
                if !isClosed { failed(error) }
            }
            guard (try? await Loop.sleep(for: backoff.failed())) != nil else { return }
        }
    }

    private func connect() async throws(RedisError) -> RedisSession {
        tries += 1
        let session = try await RedisSession.open(settings, dialTimeout: dialTimeout)
        do throws(RedisError) {
            hashes = try await loadScripts(session)
            let info = try await session.serverInfo(timeout: settings.timeout)
            let runID = info.runID
            guard !isClosed else { throw .closed }
            if let error = session.ending { throw error }
            clock.observed(info.time)
            clockTimer.start(after: Self.clockInterval, every: Self.clockInterval)
            let isOther = serverRunID != nil && serverRunID != runID
            serverRunID = runID
            session.onEnd = { [weak self] in self?.lost($0) }
            self.session = session
            if let since = outageSince { onOutage(.ended(after: .now - since)) }
            outageSince = nil
            wakeReadyWaiters()
            onReady(isOther)
            return session
        } catch {
            session.close()
            throw error
        }
    }

    /// - Returns: the hashes of the scripts; empty if the Redis user may not load scripts and `toleratesNoScripts` is
    ///   set.
    private func loadScripts(_ session: RedisSession) async throws(RedisError) -> [Script: [UInt8]] {
        do throws(RedisError) {
            return try await session.loadScripts(timeout: settings.timeout)
        } catch {
            guard settings.toleratesNoScripts, case .refused(let reason) = error, reason.code == "NOPERM"
            else { throw error }
            return [:]
        }
    }

    /// How often Redis's time is read. After a correction of the clock of Redis's host, this process uses the corrected
    /// time within a minute.
    private static var clockInterval: Duration { .seconds(60) }

    private func readClock() {
        send(RESPCommand("TIME")) { [weak self] result in
            if case .success(let reply) = result { self?.clock.observed(reply.time ?? 0) }
        }
    }

    private func failed(_ error: RedisError) {
        if outageSince == nil {
            outageSince = .now
            onOutage(.began(error))
        }
        onLoss(error)
    }

    private func lost(_ error: RedisError) {
        session = nil
        clockTimer.stop()
        lastError = .notConnected("\(error)")
        onLoss(error)
    }

    private func wakeReadyWaiters() {
        let waiters = readyWaiters
        readyWaiters = []
        for waiter in waiters { waiter.resume() }
    }
}

extension RedisConnection {
    /// Logs one line when Redis becomes unreachable and one when it is reachable again. Also logs numbers in replies
    /// that are out of range, at most once in ten minutes for each step.
    package func logOutages(to log: Logger) {
        var refused = RefusedValueLog()
        onClampedNumber = { step in
            guard refused.shouldReport(at: step, now: .now) else { return }
            log.warning(
                "a number from Redis is out of range: using the nearest valid number",
                metadata: ["step": "\(step)", "limit": "\(WholeNumber.limit)"])
        }
        onOutage = { outage in
            switch outage {
            case .began(let error): log.warning("Redis is not reachable", metadata: ["error": "\(error)"])
            case .ended(let duration):
                log.notice("Redis is reachable again", metadata: ["after": "\(duration)"])
            }
        }
    }
}

extension BackOff {
    /// The delays between attempts to reach Redis: 50 ms, doubling to 1 s. Up to half of each delay is random.
    package static let redis = BackOff(first: .milliseconds(50), longest: .seconds(1))

    /// Counts a failure, and returns the delay before the next attempt.
    package mutating func failed() -> Duration {
        var random = SystemRandomNumberGenerator()
        return failed(using: &random)
    }
}
