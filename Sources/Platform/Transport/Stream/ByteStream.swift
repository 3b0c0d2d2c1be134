package import EventLoop
package import OpenSSL
import POSIX

/// A connected socket, plain or TLS: bytes come in as they come, and go out in one write a turn of the loop.
///
/// What is to be sent is either appended with ``write(_:)``, or pulled from ``source`` whenever the socket has
/// room, so that a slow peer holds up its source and not our memory.
@Loop package final class ByteStream: TurnListener {
    /// Gets what was read; the bytes are valid during the call. Nothing is read before this or ``onEnd`` is set.
    package var onBytes: @Loop (UnsafeRawBufferPointer) -> Void = { _ in } {
        didSet { becomeWanted() }
    }
    /// Is called once, unless ``close()`` came first.
    package var onEnd: @Loop (StreamEnd) -> Void = { _ in } {
        didSet { becomeWanted() }
    }
    /// Appends more output to what it is given, or nothing when there is none; asked after
    /// ``setNeedsFlush()``. It may close the stream, but not write to it.
    package var source: (@Loop (inout OutputBuffer) -> Void)?
    /// The peer's address, for logs.
    package let peer: String

    private var socket: StreamSocket
    private var poll: Poll?
    private var output = OutputBuffer()
    private var waitsForRoom = false
    /// TLS cannot read before it has written something of its own.
    private var readWaitsForRoom = false
    private var flushIsDue = false
    private var keyUpdatesDue = 0
    private var readIsDue = false
    private var outputState = OutputState.open
    /// A reader receives what comes.
    private var isWanted = false
    private var isClosing = false
    /// The source is being asked; it may ask for the close.
    private var isFilling = false
    private var closeIsDue = false
    private enum OutputState {
        case open
        /// It ends after the bytes that wait now.
        case ending
        case ended
    }

    /// Writes of one turn at most: other streams have their turn too.
    private static let writesPerTurn = 16

    /// Takes over a connected descriptor, and its TLS session after the handshake.
    init(_ descriptor: Int32, _ channel: consuming Channel, peer: String) {
        socket = StreamSocket(descriptor, channel)
        self.peer = peer
        poll = Poll(descriptor) { [unowned self] ready in handle(ready) }
    }

    isolated deinit {
        // It belongs to an owner that is gone, most likely.
        source = nil
        close()
    }

    /// The protocol agreed on by ALPN, if TLS and any.
    package var applicationProtocol: String? { withSession { $0.applicationProtocol } ?? nil }

    /// Runs `body` with the TLS session, `nil` on a plain stream.
    package func withSession<Value>(_ body: (borrowing TLSSession) -> Value) -> Value? {
        socket.channel.withSession(body)
    }

    /// Bytes that the socket, or TLS, has taken so far.
    package private(set) var bytesWritten = 0

    /// Bytes appended and not yet taken by the socket.
    package var queuedBytes: Int { output.count }

    /// Bytes that the socket took and that the peer has probably not read, with TLS overhead. More exact while
    /// ``watchesPeer`` is on.
    package var unreadByPeer: Int { socket.unreadByPeer() }

    /// Probes the peer's receive window every second.
    package var watchesPeer: Bool {
        get { socket.watchesPeer }
        set { socket.watchPeer(newValue) }
    }

    /// Whether the peer's TLS can be asked, with ``requestKeyUpdate()``, if its program has read what it was sent.
    package var hasKeyUpdates: Bool { withSession { $0.hasKeyUpdates } ?? false }

    /// How often the peer's TLS has answered.
    package var keyUpdates: Int { withSession { $0.keyUpdates } ?? 0 }

    /// Asks the peer's TLS for an answer that it gives when the peer's program has read all that was sent before. Only out of
    /// ``source``, when nothing is waiting to be sent, and if ``hasKeyUpdates``.
    package func requestKeyUpdate() { keyUpdatesDue += 1 }

    /// Appends output; it leaves at the end of the turn.
    package func write(_ bytes: UnsafeRawBufferPointer) {
        guard socket.isOpen, outputState == .open else { return }
        output.append(bytes)
        setNeedsFlush()
    }

    /// Sends what was appended as far as the socket takes it now, and the rest later: for what must not wait for the end
    /// of the turn.
    package func sendNow() {
        guard socket.isOpen, !waitsForRoom else { return }
        flush()
    }

    /// Asks ``source`` for output at the end of this turn.
    package func setNeedsFlush() {
        guard socket.isOpen, !flushIsDue, !waitsForRoom, outputState != .ended else { return }
        flushIsDue = true
        Loop.atEndOfTurn(self)
    }

    /// Stops or goes on reading: while stopped, the peer is held up by TCP.
    package var isReading = true {
        didSet { restartWatch() }
    }

    private var reads: Bool { isReading && isWanted }

    private func becomeWanted() {
        guard !isWanted else { return }
        isWanted = true
        restartWatch()
    }

    private func restartWatch() {
        watch()
        // What TLS took from the socket before does not wake a poll.
        if reads, socket.isOpen, socket.channel.hasPending { setNeedsRead() }
    }

    /// Limits what the system takes in of the peer's before it is read here.
    package func limitReceiveBuffer(_ bytes: Int) {
        socket.limitReceiveBuffer(bytes)
    }

    /// Sends waiting output as far as the socket takes it now, sends close_notify and closes. No callback follows.
    package func close() {
        guard socket.isOpen, !isClosing else { return }
        if isFilling {
            closeIsDue = true
            return
        }
        isClosing = true
        if outputState != .ended {
            flush()
            guard socket.isOpen else { return }
            socket.channel.sendCloseNotify()
        }
        shut()
    }

    /// Sends what is waiting, tells the peer that nothing more comes, and goes on reading until the peer ends, too.
    ///
    /// Closes TLS for writing and then TCP. ``onEnd`` is called when the peer has closed. What is written from now on is dropped;
    /// ``source`` is still asked for its rest.
    package func endOutput() {
        if outputState == .open { outputState = .ending }
        setNeedsFlush()
    }

    /// Breaks the connection with a TCP reset, leaving unsent what is waiting.
    package func reset() {
        guard socket.isOpen else { return }
        socket.resetOnClose()
        shut()
    }

    package func loopTurnEnded() {
        if readIsDue {
            readIsDue = false
            readNow()
        }
        if flushIsDue {
            flushIsDue = false
            flush()
        }
    }

    private func handle(_ ready: Poll.Interest) {
        var canRead = ready.contains(.readable)
        if ready.contains(.writable), waitsForRoom {
            waitsForRoom = false
            canRead = canRead || readWaitsForRoom
            readWaitsForRoom = false
            setNeedsFlush()
        }
        if canRead, reads { readNow() }
        watch()
    }

    /// Reads the bytes that have arrived, now: for decisions that a timeout alone must not make. There is a limit, because other
    /// streams get their turn, too.
    package func readNow() {
        for _ in 0..<16 {
            guard socket.isOpen, reads else { return }
            switch socket.read() {
            case .bytes(let count): deliver(count)
            case .wait(let interest):
                if interest == .writable {
                    readWaitsForRoom = true
                    waitForRoom()
                }
                return
            case .end(let end): return finish(end)
            }
        }
        if socket.isOpen, socket.channel.hasPending { setNeedsRead() }
    }

    private func setNeedsRead() {
        guard !readIsDue else { return }
        readIsDue = true
        Loop.atEndOfTurn(self)
    }

    private func flush() {
        var writes = 0
        while socket.isOpen, !waitsForRoom {
            if output.isEmpty, keyUpdatesDue == 0 { fill() }
            while socket.isOpen, !waitsForRoom, keyUpdatesDue > 0, !isClosing { sendKeyUpdate() }
            guard socket.isOpen, !waitsForRoom, !output.isEmpty else { break }
            guard writes < Self.writesPerTurn || isClosing else { return setNeedsFlush() }
            writes += 1
            switch socket.channel.write(socket.descriptor, output.front) {
            case .bytes(let count):
                output.consume(count)
                bytesWritten += count
            case .wait: waitForRoom()
            case .end(let end): return finishAfterRest(end)
            }
        }
        output.trim()
        guard outputState == .ending, socket.isOpen, !isClosing, !waitsForRoom, output.isEmpty else { return }
        outputState = .ended
        source = nil
        socket.endOutput()
    }

    /// OpenSSL does not read while a message of its own waits to be sent; the peer's last bytes would be lost.
    private func sendKeyUpdate() {
        readNow()
        guard socket.isOpen else { return }
        switch socket.requestKeyUpdate() {
        case .bytes: keyUpdatesDue -= 1
        case .wait: waitForRoom()
        case .end(let end): finishAfterRest(end)
        }
    }

    /// Ends after the peer's last bytes, such as responses and a reason, which can still be read.
    private func finishAfterRest(_ end: StreamEnd) {
        while socket.isOpen, reads, !isClosing,
            case .bytes(let count) = socket.read()
        {
            deliver(count)
        }
        finish(end)
    }

    private func deliver(_ count: Int) {
        onBytes(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(ReadBuffer.shared)[..<count]))
    }

    private func fill() {
        guard let source else { return }
        isFilling = true
        source(&output)
        isFilling = false
        guard closeIsDue else { return }
        self.source = nil
        close()
    }

    private func waitForRoom() {
        waitsForRoom = true
        watch()
    }

    private func watch() {
        var interest: Poll.Interest = reads ? .readable : []
        if waitsForRoom { interest.insert(.writable) }
        poll?.watch(interest)
    }

    private func finish(_ end: StreamEnd) {
        guard socket.isOpen else { return }
        shut()
        if !isClosing { onEnd(end) }
    }

    private func shut() {
        poll?.cancel()
        poll = nil
        socket.close()
    }
}
