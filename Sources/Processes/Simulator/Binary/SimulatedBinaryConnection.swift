import APNs
import BinaryProtocol
import EventLoop
import Transport

/// One client's connection to the binary interface.
@Loop final class SimulatedBinaryConnection: TurnListener {
    let number: Int64
    /// The address at which the connection arrived.
    let host: String
    /// A strong reference, because it is faster than an unowned reference. It causes no leak, because the server
    /// releases each connection when the connection ends.
    private let server: BinaryServer
    private let gateway: SimulatedGateway
    private let stream: ByteStream
    private let client: BinaryClient
    private let topic: [UInt8]
    private var course: BinaryConnectionState
    /// The beginning of an incomplete frame.
    private var rest = OutputBuffer()
    /// Whether the start of the next frame is unknown, so that later bytes cannot be parsed.
    private var isLost = false
    private var phase = Phase.open
    private var replied = 0
    private var clock: Timer?
    private var pace: Timer?

    private enum Phase {
        case open, replying, closing, leaving, gone
    }

    /// The size in bytes of the receive buffer of a connection that is read slowly. The buffer holds two TCP segments
    /// of the loopback interface. With a smaller buffer, TCP timers would delay the client's output.
    private static let slowBuffer = 128 << 10

    init(
        _ number: Int64, _ stream: ByteStream, _ client: BinaryClient, at host: String,
        of server: BinaryServer
    ) {
        self.number = number
        self.host = host
        self.stream = stream
        self.client = client
        self.server = server
        gateway = server.gateway
        topic = Array((client.topic ?? "").utf8)
        course = BinaryConnectionState(random: &server.gateway.random)
        stream.onBytes = { [unowned self] in received($0) }
        stream.onEnd = { [unowned self] _ in ended() }
    }

    func begin() {
        paceChanged()
        let faults = gateway.faults.binary[host]
        guard let closing = faults.closing, course.endsAtOnce(closing) else { return }
        course.close(closing, random: &gateway.random)
        concludeIfDue()
    }

    // MARK: Bytes

    private func received(_ bytes: UnsafeRawBufferPointer) {
        gateway.readClock()
        if rest.isEmpty {
            let count = read(bytes)
            rest.append(UnsafeRawBufferPointer(rebasing: bytes[count...]))
        } else {
            rest.append(bytes)
            rest.consume(read(rest.front))
        }
        concludeIfDue()
        slowDown(after: bytes.count)
        Loop.atEndOfTurn(self)
    }

    /// Reads all complete frames.
    /// - Returns: the number of processed bytes.
    private func read(_ bytes: UnsafeRawBufferPointer) -> Int {
        let faults = gateway.faults.binary[host]
        let table = gateway.judge.table
        var offset = 0
        while offset < bytes.count, !isLost {
            let front = UnsafeRawBufferPointer(rebasing: bytes[offset...])
            switch BinaryFrame(readingFrontOf: front) {
            case .incomplete: return offset
            case .notification(let push, let command, let length):
                take(push, command, faults, table)
                offset += length
            case .unreadable(let identifier, let length):
                let outcome = course.takeUnreadable(
                    identifier: identifier, faults: faults, random: &gateway.random)
                note(outcome, command: front[0], identifier: identifier)
                isLost = length == nil
                offset += length ?? 0
            case .unknownCommand(let command):
                note(
                    course.takeUnknownCommand(faults: faults, random: &gateway.random), command: command,
                    identifier: nil)
                isLost = true
            }
        }
        return isLost ? bytes.count : offset
    }

    private func take(
        _ push: BinaryNotification, _ command: BinaryCommand, _ faults: BinaryFaults,
        _ table: borrowing TokenTable
    ) {
        let verdict = server.judge.judge(push, as: command, hasTopic: client.hasTopic, table: table)
        let outcome = course.take(
            identifier: push.identifier, of: command, verdict, faults: faults, random: &gateway.random)
        if outcome == .accepted {
            if case .undeliverable(let since) = verdict {
                gateway.feedbackTable.add(
                    push.token, time: UInt32(clamping: since / 1000), topic: client.topic)
            }
            server.counters.accepted(push.token)
        }
        note(
            outcome, command: command.rawValue, identifier: command.isIdentified ? push.identifier : nil, push
        )
    }

    private func note(
        _ outcome: BinaryConnectionState.Outcome, command: UInt8, identifier: UInt32?,
        _ push: BinaryNotification? = nil
    ) {
        server.counters.count(outcome)
        let warning = outcome == .accepted ? push.flatMap { gateway.warning(about: $0.payload) } : nil
        if warning != nil { server.counters.warnings += 1 }
        topic.withUnsafeBytes { topic in
            gateway.ledger?.note(
                Ledger.Frame(
                    moment: gateway.moment, connection: number, number: course.last.number, command: command,
                    identifier: identifier, push: push, topic: topic, outcome: outcome, warning: warning))
        }
    }

    // MARK: A slow reader

    private func slowDown(after count: Int) {
        guard let speed = gateway.faults.binary[host].bytesPerSecond else { return }
        stream.isReading = false
        guard speed > 0 else { return }
        if pace == nil { pace = Timer { [unowned self] in stream.isReading = true } }
        pace?.start(after: .milliseconds(max(1, count * 1000 / speed)))
    }

    func paceChanged() {
        guard phase != .leaving, phase != .gone else { return }
        let speed = gateway.faults.binary[host].bytesPerSecond
        if speed != nil { stream.limitReceiveBuffer(Self.slowBuffer) }
        pace?.stop()
        stream.isReading = speed != 0
    }

    // MARK: The end

    func closeNow(isReset: Bool) {
        course.close(
            BinaryFaults.Ending(every: 0, share: 1, isReset: isReset), random: &gateway.random)
        concludeIfDue()
    }

    func shutDownNow() {
        course.shutDown(faults: gateway.faults.binary[host], random: &gateway.random)
        concludeIfDue()
    }

    private func concludeIfDue() {
        guard phase == .open, let end = course.end else { return }
        if end.cause == .shutdown { server.counters.shutdowns += 1 }
        if end.cause == .none { server.counters.causelessCloses += 1 }
        if end.isReplyLost { server.counters.lostReplies += 1 }
        if end.isReplyCut { server.counters.cutReplies += 1 }
        phase = .replying
        clock = Timer { [unowned self] in timePassed() }
        wait(end.cause == .none ? 0 : end.replyDelay)
    }

    private func wait(_ milliseconds: Double) {
        guard milliseconds > 0 else { return timePassed() }
        clock?.start(after: .milliseconds(Int64(milliseconds.rounded(.up))))
    }

    private func timePassed() {
        guard let end = course.end else { return }
        switch phase {
        case .replying:
            if let reply = end.reply {
                send(reply, end)
                // Send each byte in a separate turn of the loop, because bytes that are written in one turn are sent together.
                if let pause = end.pause, replied < end.replyLength {
                    return wait(max(1, pause.draw(&gateway.random)))
                }
            }
            phase = .closing
            wait(end.closeDelay)
        case .closing:
            // Closes at the end of the turn, because this code may run in the middle of a read.
            phase = .leaving
            Loop.atEndOfTurn(self)
        case .open, .leaving, .gone: break
        }
    }

    private func send(_ reply: BinaryReply, _ end: BinaryConnectionState.End) {
        gateway.flushLedger()
        let part = reply.bytes[replied..<(end.pause == nil ? end.replyLength : replied + 1)]
        part.withUnsafeBytes { stream.write($0) }
        replied += part.count
        if replied == BinaryReply.length { server.counters.replies += 1 }
    }

    func loopTurnEnded() {
        gateway.flushLedger()
        guard phase == .leaving else { return }
        // Read and record the frames that have arrived, because unread bytes would turn the close into a TCP reset.
        stream.readNow()
        guard phase == .leaving else { return }
        gateway.flushLedger()
        if course.end?.isReset == true { stream.reset() } else { stream.close() }
        ended()
    }

    private func ended() {
        guard phase != .gone else { return }
        phase = .gone
        if !rest.isEmpty, !isLost { server.counters.halfFrames += 1 }
        clock?.stop()
        pace?.stop()
        gateway.flushLedger()
        server.ended(self)
    }

    func abandon() {
        phase = .gone
        stream.close()
    }
}
