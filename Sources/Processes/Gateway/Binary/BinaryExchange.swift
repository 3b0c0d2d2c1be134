import APNs
import BinaryProtocol
import FarmPolicy
import PushModel
import Transport

/// Pushes over one binary connection, without the connection: pushes, bytes and moments in, bytes and events out.
///
/// The gateway says nothing about what it accepts. What it refuses it names once, and then it discards all that follows. So each
/// push stays in the ``SendWindow`` until something proves its outcome. After each call drain ``nextEvent()``. Every push
/// that ``send(_:token:payload:ticket:at:)`` took gets its outcome exactly once, at the latest by ``end(_:isPeersDoing:at:)``.
final class BinaryExchange {
    enum Phase: Comparable {
        case open
        /// It takes no more pushes.
        case retiring
        /// Nothing more comes.
        case over
        /// Every push has its outcome.
        case ended
    }

    let settings: BinarySettings
    let experience: BinaryExperience
    let generation: UInt32
    /// In which the peer's machine must have taken what it was sent.
    private let timeout: Duration
    var window: SendWindow
    private var check: SafetyCheck
    private var output = OutputBuffer()
    private var reply = BinaryReply.Reader()
    var events = ExchangeEvents()
    /// Pushes that the gateway has accepted here.
    var accepted = 0
    /// Bytes handed over to be written: no more of them can have left.
    private(set) var handed: UInt64 = 0
    /// When something moved last, or had no reason to.
    private var movedAt: Instant
    /// Since when the window is full.
    private var fullSince: Instant?
    /// The push in the window must not have company.
    private var isAlone = false
    var phase = Phase.open
    /// The gateway has accepted or refused something: it takes our credentials.
    var isProven = false

    /// Between two checks of which pushes have become safe.
    static let tickInterval = Duration.milliseconds(50)
    /// In bytes, the most that a connection has in its window: what may lie unread at the gateway must be read within the
    /// quiet time.
    private static let longestBytes = 4 << 20
    /// A connection that was not used for so long is not trusted any more.
    private static let longestIdle = Duration.seconds(1800)
    /// The sentinel's place in the window.
    static let sentinel = UInt64.max

    init(
        _ settings: BinarySettings, experience: BinaryExperience, generation: UInt32, timeout: Duration,
        at now: Instant, firstIdentifier: UInt32 = 1
    ) {
        self.settings = settings
        self.experience = experience
        self.generation = generation
        self.timeout = timeout
        movedAt = now
        check = SafetyCheck(settings, experience, at: now)
        window = SendWindow(
            longest: experience.pace.window, longestBytes: Self.longestBytes, firstIdentifier: firstIdentifier
        )
    }

    /// Pushes that may be sent now.
    var room: Int { isSpent || isAlone && !window.isEmpty ? 0 : window.room }
    /// Pushes sent and without an outcome.
    var openPushes: Int { window.count }
    /// The most pushes that may be open at a time.
    var limit: Int { isSpent ? window.count : max(window.longest, window.count) }
    /// Pushes that one turn of sending puts on it, before another connection is looked for.
    var chunk: Int { isLoaded ? room : min(room, experience.part - window.count) }
    /// It carries as much as will probably be accepted of it: another connection is better.
    var isLoaded: Bool { window.count >= experience.part }
    /// When a reply has probably ended it: a full window most likely holds a bad token, as long as there are such. Nil: not known.
    var expectedEnd: Instant? {
        guard experience.pace.isRefusing, let fullSince, window.room == 0 else { return nil }
        return experience.quiet.usualReply.map { fullSince + $0 }
    }
    /// It takes no more pushes, though it still awaits some outcomes.
    var isSpent: Bool { phase != .open }
    var hasEnded: Bool { phase == .ended }
    /// There are bytes to hand over.
    var wantsWrite: Bool { !output.isEmpty }
    var hasEvents: Bool { !events.isEmpty }

    func nextEvent() -> ExchangeEvent? { events.next() }

    // MARK: Pushes

    /// Sends one push; only with ``room``. Token and payload are valid during the call.
    /// - Parameter isRetry: it was tried before.
    /// - Returns: whether it was taken.
    func send(
        _ options: PushOptions, isRetry: Bool = false, token: UnsafeRawBufferPointer,
        payload: UnsafeRawBufferPointer,
        ticket: PushTicket, at now: Instant
    ) -> Bool {
        guard room > 0 else { return false }
        // A gateway that names nothing may have closed because of it: only by itself does that show.
        isAlone = isRetry && !settings.command.isIdentified
        guard !isAlone || window.isEmpty else { return false }
        // What the gateway would refuse by its size would take all that follows down with it.
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

    /// Takes no more pushes, and is over when all have their outcome.
    func retire(at now: Instant) {
        guard phase == .open else { return }
        phase = .retiring
        if settings.endsWithSentinel, settings.command.isIdentified, !window.isEmpty {
            // No device token has one byte.
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

    /// Moves output into `space`, as much as fits.
    func fill(_ space: UnsafeMutableRawBufferPointer) -> Int {
        guard phase < .over else { return 0 }
        let front = output.front.prefix(space.count)
        space.copyMemory(from: UnsafeRawBufferPointer(rebasing: front))
        handed += UInt64(front.count)
        output.consume(front.count)
        return front.count
    }

    /// Of the bytes that were handed over, all but `waiting` have left this process.
    func left(allBut waiting: Int, at now: Instant) {
        guard window.left(handed - UInt64(waiting), at: now) else { return }
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

    /// Looks at what has become safe by quiet; every ``tickInterval``, and only after everything that has come was read.
    ///
    /// - Parameters:
    ///   - unread: bytes that have left and that the gateway has probably not read yet.
    ///   - answers: to what was ``asked(at:)``, so far.
    func poll(unread: Int, answers: Int, at now: Instant) {
        guard phase < .over else { return }
        let (safe, hasMoved) = check.poll(&window, unread: unread, answers: answers, at: now)
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
            experience.pace.stalled(after: accepted)
            finish("the gateway took nothing for \(timeout)")
        }
    }

    /// It should be ``asked(at:)`` whether the gateway has read what has left.
    func wantsAnswer(at now: Instant) -> Bool {
        phase < .over && check.wantsAnswer(about: window, at: now)
    }

    /// The gateway's TLS is asked for an answer behind all that was handed over.
    func asked(at now: Instant) { check.asked(behind: handed, at: now) }
}

extension UInt64 {
    fileprivate init(_ ticket: PushTicket) { self = UInt64(ticket.batch) << 32 | UInt64(ticket.position) }
}
