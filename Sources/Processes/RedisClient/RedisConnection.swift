package import EventLoop
import FarmPolicy
package import Logging
package import RedisProtocol
package import StoreProtocol

/// A connection to one Redis that comes back by itself, with our scripts loaded.
///
/// Calls are pipelined: any number may wait for their answers. A call while there is no connection fails at once; what
/// is worth repeating is the caller's to know, and a ``Request`` nearly always is. Lives from ``start()`` to
/// ``close()``.
@Loop package final class RedisConnection {
    /// Is called when there is a connection; `isOtherServer` when Redis is not the process that it was before: it may
    /// have gone back in time.
    package var onReady: @Loop (_ isOtherServer: Bool) -> Void = { _ in }
    /// Is called when a connection has ended or could not be made, with the reason: for each try.
    package var onLoss: @Loop (RedisError) -> Void = { _ in }
    /// Is called once when Redis cannot be reached, and once when it can again. A connection that is lost and comes
    /// back with the first try is no outage.
    package var onOutage: @Loop (Outage) -> Void = { _ in }
    /// Is called when a reply had a number beyond `ForeignNumber.limit`, with the step and the app; the nearest number within is used.
    package var onClampedNumber: @Loop (_ step: String) -> Void = { _ in }
    package let settings: RedisSettings
    /// What time it is for deadlines of pushes.
    package private(set) var clock = RedisClock()

    package enum Outage: Equatable, Sendable {
        case began(RedisError)
        case ended(after: Duration)
    }

    private var outageSince: ContinuousClock.Instant?
    private var session: RedisSession?
    /// What Redis calls our scripts; the same in every Redis.
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

    /// Calls without an answer yet.
    package var pendingCount: Int { session?.pendingCount ?? 0 }

    /// Begins to connect, and goes on until ``close()``.
    package func start() {
        guard keeper == nil, !isClosed else { return }
        keeper = Loop.task { await self.keepConnected() }
    }

    /// Waits until there is a connection, or it is closed.
    package func whenReady() async {
        guard session == nil, !isClosed else { return }
        await withCheckedContinuation { readyWaiters.append($0) }
    }

    /// Ends the connection permanently; pending calls get an error.
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

    /// Sends a command; `then` is called exactly once, on the loop. An error reply is a failure.
    package func send(
        _ command: RESPCommand, blocking: Duration = .zero,
        then: @escaping @Loop (Result<RESPValue, RedisError>) -> Void
    ) {
        guard let session else { return then(.failure(lastError)) }
        session.send(command, timeout: settings.timeout + blocking) { result in
            then(result.flatMap { value in value.error.map { .failure(RedisError($0)) } ?? .success(value) })
        }
    }

    /// Sends a command and waits for its answer. An error reply is thrown.
    package func call(_ command: RESPCommand, blocking: Duration = .zero) async throws(RedisError)
        -> RESPValue
    {
        let result = await withCheckedContinuation { continuation in
            send(command, blocking: blocking) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Runs a script. If Redis has lost it, as after a restart, it is loaded and run again.
    /// - Parameter command: EVALSHA with the hash of the script.
    func run(
        _ script: Script, _ command: RESPCommand, blocking: Duration = .zero,
        then: @escaping @Loop (Result<RESPValue, RedisError>) -> Void
    ) {
        send(command, blocking: blocking) { result in
            guard case .failure(.waitAndRepeat(let error)) = result, error.code == "NOSCRIPT" else {
                return then(result)
            }
            // One write has both commands.
            self.send(script.loadCommand) { _ in }
            self.send(command, blocking: blocking, then: then)
        }
    }

    /// What Redis calls a script; nil before the first connection, and for a user who may run none.
    func hash(of script: Script) -> [UInt8]? {
        hashes[script]
    }
}

extension RedisConnection {
    /// A network that comes back is found within a second: a call that went into the void is not waited for. Each
    /// fourth try has all the time there is, for a way that is long.
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

    /// - Returns: nothing for a user who may read only, if that will do.
    private func loadScripts(_ session: RedisSession) async throws(RedisError) -> [Script: [UInt8]] {
        do throws(RedisError) {
            return try await session.loadScripts(timeout: settings.timeout)
        } catch {
            guard settings.toleratesNoScripts, case .refused(let reason) = error, reason.code == "NOPERM"
            else { throw error }
            return [:]
        }
    }

    /// A clock that is corrected is noticed within a minute, on whichever host.
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
    /// One line in the log when Redis cannot be reached, one when it can again; and of each step one in ten minutes when a number
    /// in its reply is out of range.
    package func logOutages(to log: Logger) {
        var refused = RefusedValues()
        onClampedNumber = { step in
            guard refused.shouldReport(at: step, now: .now) else { return }
            log.warning(
                "a number from Redis is out of range; the nearest possible one is used",
                metadata: ["step": "\(step)", "limit": "\(ForeignNumber.limit)"])
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
