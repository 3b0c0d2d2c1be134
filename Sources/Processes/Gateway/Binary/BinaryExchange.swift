import APNs
import BinaryProtocol
import FarmPolicy
import PushModel
import Transport

/// The state of one binary connection without its socket. Its inputs are pushes, received bytes and times; its outputs
/// are bytes to send and events.
///
/// The gateway does not confirm pushes that it accepts. It names the first push that it refuses, and discards all later
/// pushes. Each push therefore stays in the ``SendWindow`` until its outcome is proven. The caller drains
/// ``nextEvent()`` after each call. Every push that ``send(_:token:payload:ticket:at:)`` took gets exactly one outcome,
/// at the latest by ``end(_:isPeersDoing:at:)``.
final class BinaryExchange {
    enum Phase: Comparable {
        case open
        /// The connection takes no more pushes.
        case retiring
        /// The exchange is over: it reads and writes nothing more.
        case over
        /// Every push has its outcome.
        case ended
    }

    let settings: BinarySettings
    let profile: BinaryGatewayProfile
    let generation: UInt32
    /// How long the gateway's machine may take to accept sent bytes.
    private let timeout: Duration
    var window: SendWindow
    private var check: AcceptanceCheck
    private var output = OutputBuffer()
    private var reply = BinaryReply.Reader()
    var events = ExchangeEvents()
    /// The number of pushes that the gateway has accepted on this connection.
    var accepted = 0
    /// The number of bytes handed over for writing, an upper bound of the sent bytes.
    private(set) var handed: UInt64 = 0
    /// When the gateway last made progress, or when the connection last had nothing to do.
    private var movedAt: Instant
    /// When the window became full; nil if the window has room.
    private var fullSince: Instant?
    /// Whether the window must contain only one push, because that push is a retry without an identifier.
    private var sendsAlone = false
    var phase = Phase.open
    /// Whether the outcome of a push has proved that the gateway accepts the credentials.
    var isProven = false

    /// The time between two checks for pushes that have become safe.
    static let tickInterval = Duration.milliseconds(50)
    /// The maximum size of a connection's window, in bytes. The size is limited, because the gateway must read all
    /// unread bytes within the quiet time.
    private static let longestBytes = 4 << 20
    /// The idle time after which a connection is no longer used.
    private static let longestIdle = Duration.seconds(1800)
    /// The ticket of the sentinel: an invalid push that is sent last. The reply that refuses the sentinel confirms all
    /// earlier pushes.
    static let sentinel = UInt64.max

    init(
        _ settings: BinarySettings, profile: BinaryGatewayProfile, generation: UInt32, timeout: Duration,
        at now: Instant, firstIdentifier: UInt32 = 1
    ) {
        self.settings = settings
        self.profile = profile
        self.generation = generation
        self.timeout = timeout
        movedAt = now
        check = AcceptanceCheck(settings, profile, at: now)
        window = SendWindow(
            longest: profile.windowLimit.window, longestBytes: Self.longestBytes,
            firstIdentifier: firstIdentifier
        )
    }

    /// The number of pushes that may be sent now.
    var room: Int { isRetired || sendsAlone && !window.isEmpty ? 0 : window.room }
    /// The number of pushes that were sent and have no outcome yet.
    var openPushes: Int { window.count }
    /// The maximum number of pushes in flight.
    var limit: Int { isRetired ? window.count : max(window.longest, window.count) }
    /// The number of pushes to send on this connection in one turn before another connection is chosen.
    var sendShare: Int { isLoaded ? room : min(room, profile.part - window.count) }
    /// Whether the connection has as many open pushes as the gateway will probably accept before it refuses a push.
    /// If so, another connection is better for further pushes.
    var isLoaded: Bool { window.count >= profile.part }
    /// The time by which a reply about a bad token will probably have ended the connection; nil if the farm expects no
    /// such reply. While tokens are being refused, a full window most likely contains a bad token.
    var expectedEnd: Instant? {
        guard profile.windowLimit.isRefusing, let fullSince, window.room == 0 else { return nil }
        return profile.quiet.usualReply.map { fullSince + $0 }
    }
    /// Whether the connection takes no more pushes, although it may still await outcomes.
    var isRetired: Bool { phase != .open }
    var hasEnded: Bool { phase == .ended }
    /// Whether there are bytes to hand over.
    var wantsWrite: Bool { !output.isEmpty }
    var hasEvents: Bool { !events.isEmpty }

    func nextEvent() -> ExchangeEvent? { events.next() }

    // MARK: Pushes

    /// Sends one push; requires ``room``. Token and payload must be valid during the call.
    /// - Parameter isRetry: whether the push was tried before.
    /// - Returns: whether the push was taken.
    func send(
        _ options: PushOptions, isRetry: Bool = false, token: UnsafeRawBufferPointer,
        payload: UnsafeRawBufferPointer,
        ticket: PushTicket, at now: Instant
    ) -> Bool {
        guard room > 0 else { return false }
        // In a format without identifiers, this push may be the reason why the gateway closed an earlier connection. To
        // find out, the push is sent alone.
        sendsAlone = isRetry && !settings.command.isIdentified
        guard !sendsAlone || window.isEmpty else { return false }
        // A push that is too large is refused here: if the gateway refused it, the gateway would discard all later
        // pushes.
        guard payload.count <= settings.command.longestPayload else {
            reject(ticket, with: .invalidPayloadSize)
            return true
        }
        guard token.count <= BinaryCommand.longestToken else {
            reject(ticket, with: .invalidTokenSize)
            return true
        }
        write(
            BinaryNotification(
                token: token, payload: payload, identifier: window.next,
                expiration: options.expiration.map { UInt32(clamping: $0) },
                priority: options.priority >= 10 ? 10 : 5),
            as: UInt64(ticket), at: now)
        return true
    }

    /// Takes no more pushes, and ends when all pushes have an outcome.
    func retire(at now: Instant) {
        guard phase == .open else { return }
        phase = .retiring
        if settings.endsWithSentinel, settings.command.isIdentified, !window.isEmpty {
            // The sentinel has a token of one byte, which is never valid, so the gateway refuses the sentinel.
            let token: [UInt8] = [0]
            let payload = Array(#"{"aps":{}}"#.utf8)
            token.withUnsafeBytes { token in
                payload.withUnsafeBytes { payload in
                    write(
                        BinaryNotification(
                            token: token, payload: payload, identifier: window.next, expiration: 0,
                            priority: 5),
                        as: Self.sentinel, at: now)
                }
            }
        }
        finishIfDone()
    }

    private func write(_ notification: BinaryNotification, as ticket: UInt64, at now: Instant) {
        if window.isEmpty { movedAt = now }
        let length = notification.length(as: settings.command)
        output.append(upTo: length) { notification.write(as: settings.command, to: $0) }
        window.add(ticket, length: length)
        if window.room == 0 { fullSince = now }
    }

    // MARK: Bytes

    /// Writes as much output into `space` as fits.
    func fill(_ space: UnsafeMutableRawBufferPointer) -> Int {
        guard phase < .over else { return 0 }
        let front = output.front.prefix(space.count)
        space.copyMemory(from: UnsafeRawBufferPointer(rebasing: front))
        handed += UInt64(front.count)
        output.consume(front.count)
        return front.count
    }

    /// Notes that all handed-over bytes except `waiting` have left this process.
    func bytesSent(allBut waiting: Int, at now: Instant) {
        guard window.sent(upTo: handed - UInt64(waiting), at: now) else { return }
        movedAt = now
    }

    func receive(_ bytes: UnsafeRawBufferPointer, at now: Instant) {
        guard phase < .over else { return }
        switch reply.read(bytes) {
        case .incomplete: break
        case .malformed: finish("a reply that cannot be read")
        case .reply(let reply): judge(reply, at: now)
        }
    }

    // MARK: Time

    /// Checks which pushes have become safe, because their quiet time has ended. Called every ``tickInterval``, after
    /// all received bytes were read.
    ///
    /// - Parameters:
    ///   - unread: the number of sent bytes that the gateway has probably not read yet.
    ///   - responses: the number of responses so far to the questions that ``asked(at:)`` has noted.
    func poll(unread: Int, responses: Int, at now: Instant) {
        guard phase < .over else { return }
        let (safe, hasMoved) = check.poll(&window, unread: unread, responses: responses, at: now)
        if hasMoved { movedAt = now }
        accept(safe)
        resize()
        finishIfDone()
        if phase >= .over { return }
        if window.isEmpty {
            if now - movedAt > Self.longestIdle { finish("idle for too long") }
        } else if !check.isWaiting(for: window, at: now) {
            movedAt = now
        } else if now - movedAt > timeout {
            check.stalled()
            profile.windowLimit.stalled(after: accepted)
            finish("the gateway accepted no bytes for \(timeout)")
        }
    }

    /// Whether to ask the gateway, by a TLS key update, if it has read the sent bytes. The caller then calls
    /// ``asked(at:)``.
    func shouldAsk(at now: Instant) -> Bool {
        phase < .over && check.shouldAsk(about: window, at: now)
    }

    /// Notes that a question to the gateway, a TLS key update, follows all bytes handed over so far.
    func asked(at now: Instant) { check.asked(behind: handed, at: now) }
}

extension UInt64 {
    fileprivate init(_ ticket: PushTicket) { self = UInt64(ticket.batch) << 32 | UInt64(ticket.position) }
}
