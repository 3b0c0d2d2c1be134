import DequeModule
import EventLoop
import RESP
import RedisProtocol
import StoreProtocol
import Transport

/// One live connection to Redis. Commands are sent in order, and replies arrive in the same order. After its end, a
/// session cannot be used again.
@Loop final class RedisSession {
    typealias Handler = @Loop (Result<RESPValue, RedisError>) -> Void

    private struct Pending {
        let deadline: ContinuousClock.Instant
        let handler: Handler
    }

    /// Called with each message of a subscription.
    var onMessage: @Loop (RESPValue) -> Void = { _ in }
    /// Called once when the connection has ended, after every pending call got its error. Not called after ``close()``,
    /// and not called if the connection ended before this property was set. So check ``ending`` before you set this
    /// property.
    var onEnd: @Loop (RedisError) -> Void = { _ in }
    /// Whether the connection has subscribed to channels. If so, a value that arrives while no call is pending is a
    /// message; otherwise such a value is an error.
    var isSubscribed = false

    private let stream: ByteStream
    private let reader = RESPReader()
    private var pending: Deque<Pending> = []
    private var watchdog: Timer?
    /// Why the connection has ended; nil while the connection is open. The code that handles a reply may end the
    /// connection, so check this value after each reply.
    private(set) var ending: RedisError?
    private var endWaiter: CheckedContinuation<Void, Never>?

    init(_ stream: ByteStream) {
        self.stream = stream
        stream.onBytes = { [unowned self] in receive($0) }
        stream.onEnd = { [unowned self] in end(.lost("\($0)")) }
    }

    isolated deinit { stream.close() }

    var isOpen: Bool { ending == nil }

    var pendingCount: Int { pending.count }

    /// Sends a command. `handler` is called exactly once.
    func send(_ command: borrowing RESPCommand, timeout: Duration, _ handler: @escaping Handler) {
        guard isOpen else { return handler(.failure(.notConnected("the connection has ended"))) }
        pending.append(Pending(deadline: .now + timeout, handler: handler))
        write(command)
        if isOpen { watch() }
    }

    /// Sends a command of a subscription. Redis's replies to the command go to ``onMessage``.
    func sendSubscription(_ command: borrowing RESPCommand) {
        isSubscribed = true
        write(command)
    }

    private func write(_ command: borrowing RESPCommand) {
        command.withParts { header, arguments in
            stream.write(header)
            stream.write(arguments)
        }
        // Redis executes the first commands of a long turn while this process prepares the next commands.
        if stream.queuedBytes >= Self.longOutput { stream.sendNow() }
    }

    /// If at least this number of bytes waits for the end of the turn, the bytes are sent at once.
    private static let longOutput = 32_768

    /// Closes the connection. Pending calls get an error.
    func close() {
        guard isOpen else { return }
        onEnd = { _ in }
        end(.closed)
    }

    /// Waits until the connection has ended. Only one caller may wait.
    func untilEnd() async {
        guard isOpen else { return }
        await withCheckedContinuation { endWaiter = $0 }
    }

    /// Ends the connection with a timeout error, and calls ``onEnd``.
    func abandon() {
        end(.timedOut)
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        do throws(RESPError) {
            try reader.feed(bytes)
            while isOpen, let value = try reader.next() { deliver(value) }
        } catch {
            end(.lost("unreadable reply: \(error)"))
        }
    }

    private func deliver(_ value: RESPValue) {
        guard let call = pending.popFirst() else {
            guard isSubscribed else { return end(.lost("an unsolicited reply")) }
            return onMessage(value)
        }
        if pending.isEmpty { watchdog?.stop() }
        call.handler(.success(value))
    }

    /// Starts a timer that checks the deadlines of pending calls four times a second, so that a hanging Redis is
    /// detected.
    private func watch() {
        if watchdog == nil { watchdog = Timer { [unowned self] in checkDeadlines() } }
        guard watchdog?.isRunning == false else { return }
        watchdog?.start(after: .milliseconds(250), every: .milliseconds(250))
    }

    func checkDeadlines(at now: ContinuousClock.Instant = .now) {
        guard isLate(at: now) else { return }
        // If this process was suspended, replies may have arrived in the meantime. These replies are not late, so read
        // them before the deadlines are checked again.
        stream.readNow()
        // Redis replies in the order of the commands. Until the late reply arrives, no later reply can arrive, so end
        // the connection.
        if isOpen, isLate(at: now) { end(.timedOut) }
    }

    private func isLate(at now: ContinuousClock.Instant) -> Bool {
        pending.contains { $0.deadline < now }
    }

    private func end(_ error: RedisError) {
        guard isOpen else { return }
        ending = error
        watchdog?.stop()
        stream.onBytes = { _ in }
        stream.onEnd = { _ in }
        stream.close()
        let calls = pending
        pending = []
        for call in calls { call.handler(.failure(error)) }
        onEnd(error)
        endWaiter?.resume()
        endWaiter = nil
    }
}

extension RedisSession {
    /// Connects and logs in: AUTH, SELECT, CLIENT SETNAME in one write.
    /// - Parameter dialTimeout: the timeout for connecting and for the TLS handshake, at most
    ///   `settings.connectTimeout`, which is the timeout for all steps together.
    static func open(
        _ settings: RedisSettings, dialTimeout: Duration? = nil
    ) async throws(RedisError) -> RedisSession {
        let address = settings.address
        guard !address.usesTLS || settings.tls != nil else {
            throw .notConnected("a rediss:// address without TLS settings")
        }
        let deadline = ContinuousClock.now + settings.connectTimeout
        let session: RedisSession
        do {
            let dial = Dial(
                address.endpoint, tls: address.usesTLS ? settings.tls : nil,
                timeout: min(dialTimeout ?? settings.connectTimeout, settings.connectTimeout))
            session = RedisSession(try await dial.connect())
        } catch {
            throw .notConnected("\(error)")
        }
        do throws(RedisError) {
            for command in logIn(settings) {
                let reply = try await session.call(command, timeout: deadline - .now)
                if let error = reply.error { throw RedisError(error) }
            }
        } catch {
            session.close()
            throw error
        }
        return session
    }

    /// Sends a command and waits for its reply, which may be an error reply.
    func call(_ command: RESPCommand, timeout: Duration) async throws(RedisError) -> RESPValue {
        let result = await withCheckedContinuation { continuation in
            send(command, timeout: timeout) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    private static func logIn(_ settings: RedisSettings) -> [RESPCommand] {
        let address = settings.address
        var commands: [RESPCommand] = []
        if !address.user.isEmpty {
            commands.append(RESPCommand("AUTH", address.user, address.password))
        } else if !address.password.isEmpty {
            commands.append(RESPCommand("AUTH", address.password))
        }
        if address.database != 0 { commands.append(RESPCommand("SELECT", "\(address.database)")) }
        commands.append(RESPCommand("CLIENT", "SETNAME", settings.clientName))
        return commands
    }

    /// Loads every script.
    /// - Returns: the hash by which Redis knows each script.
    func loadScripts(timeout: Duration) async throws(RedisError) -> [Script: [UInt8]] {
        var hashes: [Script: [UInt8]] = [:]
        for script in Script.allCases {
            let reply = try await call(script.loadCommand, timeout: timeout)
            if let error = reply.error { throw RedisError(error) }
            hashes[script] = reply.bytes ?? []
        }
        return hashes
    }

    /// Reads the server section of INFO; empty if the user may not run INFO.
    func serverInfo(timeout: Duration) async throws(RedisError) -> RedisInfo {
        let reply = try await call(RESPCommand("INFO", "server"), timeout: timeout)
        return RedisInfo(reply.text ?? "")
    }
}
