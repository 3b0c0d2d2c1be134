import EventLoop
import RESP
import RedisProtocol
import StoreProtocol
import Transport

/// One live connection to Redis: commands go out in order, answers come back in the same order. It ends once.
@Loop final class RedisSession {
    typealias Handler = @Loop (Result<RESPValue, RedisError>) -> Void

    private struct Pending {
        let deadline: ContinuousClock.Instant
        let handler: Handler
    }

    /// Gets unsolicited messages of subscriptions.
    var onMessage: @Loop (RESPValue) -> Void = { _ in }
    /// Is called once, after every pending call got its error; not after ``close()``, and not for an end that was there
    /// before: whoever sets it looks at ``ending`` first.
    var onEnd: @Loop (RedisError) -> Void = { _ in }
    /// Messages of subscriptions may come.
    var isSubscribed = false

    private let stream: ByteStream
    private let reader = RESPReader()
    /// A queue: answered ones stand before `first`.
    private var pending: [Pending?] = []
    private var first = 0
    private var watchdog: Timer?
    /// Why it has ended, as it may behind any answer.
    private(set) var ending: RedisError?

    init(_ stream: ByteStream) {
        self.stream = stream
        stream.onBytes = { [unowned self] in receive($0) }
        stream.onEnd = { [unowned self] in end(.lost("\($0)")) }
    }

    isolated deinit { stream.close() }

    var isOpen: Bool { ending == nil }

    var pendingCount: Int { pending.count - first }

    /// Sends a command; `handler` is called exactly once.
    func send(_ command: borrowing RESPCommand, timeout: Duration, _ handler: @escaping Handler) {
        guard isOpen else { return handler(.failure(.notConnected("the connection has ended"))) }
        command.withParts { header, arguments in
            stream.write(header)
            stream.write(arguments)
        }
        pending.append(Pending(deadline: .now + timeout, handler: handler))
        watch()
    }

    /// Sends a command whose answers are messages.
    func sendSubscription(_ command: borrowing RESPCommand) {
        isSubscribed = true
        command.withParts { header, arguments in
            stream.write(header)
            stream.write(arguments)
        }
    }

    /// Ends the connection; pending calls get an error.
    func close() {
        guard isOpen else { return }
        onEnd = { _ in }
        end(.closed)
    }

    /// Ends the connection as if it had been lost.
    func abandon() {
        end(.timedOut)
    }

    private func receive(_ bytes: UnsafeRawBufferPointer) {
        do throws(RESPError) {
            try reader.feed(bytes)
            while isOpen, let value = try reader.next() { deliver(value) }
        } catch {
            end(.lost("unreadable answer: \(error)"))
        }
    }

    private func deliver(_ value: RESPValue) {
        guard pendingCount > 0 else {
            guard isSubscribed else { return end(.lost("an unsolicited answer")) }
            return onMessage(value)
        }
        let call = pending[first]
        pending[first] = nil
        first += 1
        if first == pending.count {
            pending.removeAll(keepingCapacity: true)
            first = 0
            watchdog?.stop()
        } else if first > 1024, first * 2 > pending.count {
            pending.removeSubrange(..<first)
            first = 0
        }
        call?.handler(.success(value))
    }

    /// Deadlines are looked at four times a second: they are for a Redis that hangs.
    private func watch() {
        if watchdog == nil { watchdog = Timer { [unowned self] in checkDeadlines() } }
        guard watchdog?.isRunning == false else { return }
        watchdog?.start(after: .milliseconds(250), every: .milliseconds(250))
    }

    func checkDeadlines(at now: ContinuousClock.Instant = .now) {
        guard isLate(at: now) else { return }
        // The process may have stood still: an answer that has come meanwhile is in time.
        stream.readNow()
        // Answers come in order, so one that is late holds up all behind it: the connection is of no more use.
        if isOpen, isLate(at: now) { end(.timedOut) }
    }

    private func isLate(at now: ContinuousClock.Instant) -> Bool {
        pending[first...].contains { $0.map { $0.deadline < now } ?? false }
    }

    private func end(_ error: RedisError) {
        guard isOpen else { return }
        ending = error
        watchdog?.stop()
        stream.onBytes = { _ in }
        stream.onEnd = { _ in }
        stream.close()
        let calls = pending[first...]
        pending = []
        first = 0
        for call in calls { call?.handler(.failure(error)) }
        onEnd(error)
    }
}
