package import EventLoop
package import OpenSSL
import POSIX

/// A connected socket, plain or TLS. Received bytes are passed on at once; output is sent in one write per turn of the loop.
///
/// Output is either appended with ``write(_:)``, or requested from ``source`` when the socket has room. With ``source``, output
/// for a slow peer does not fill memory, because the stream does not call the source while the socket is full.
@Loop package final class ByteStream: TurnListener {
    /// Gets received bytes, which are valid during the call. Reading starts when this closure or ``onEnd`` is set.
    package var onBytes: @Loop (UnsafeRawBufferPointer) -> Void = { _ in } {
        didSet { becomeWanted() }
    }
    /// Called once when the stream ends, unless ``close()`` was called before.
    package var onEnd: @Loop (StreamEnd) -> Void = { _ in } {
        didSet { becomeWanted() }
    }
    /// Appends more output to the given buffer, or nothing. The source is called after ``setNeedsFlush()``. The source may close
    /// the stream but must not write to the stream.
    package var source: (@Loop (inout OutputBuffer) -> Void)?
    /// The peer's address, for logs.
    package let peer: String

    private var socket: StreamSocket
    private var poll: Poll?
    private var output = OutputBuffer()
    private var waitsForRoom = false
    /// Whether TLS must first write bytes of its own protocol, and therefore cannot read yet.
    private var readWaitsForRoom = false
    private var flushIsDue = false
    private var keyUpdatesDue = 0
    private var readIsDue = false
    private var outputState = OutputState.open
    /// Whether ``onBytes`` or ``onEnd`` has been set. Reading starts when this becomes true.
    private var isWanted = false
    private var isClosing = false
    /// Whether ``source`` is being called. If the source calls ``close()``, the stream closes after the call.
    private var isFilling = false
    private var closeIsDue = false
    private enum OutputState {
        case open
        /// The output ends after the queued bytes are sent.
        case ending
        case ended
    }

    /// The maximum number of writes in one turn, so that other streams are served too.
    private static let writesPerTurn = 16

    /// Takes over a connected descriptor, with its TLS session after the handshake.
    init(_ descriptor: Int32, _ channel: consuming Channel, peer: String) {
        socket = StreamSocket(descriptor, channel)
        self.peer = peer
        poll = Poll(descriptor) { [unowned self] ready in handle(ready) }
    }

    isolated deinit {
        // `close()` must not call the source, because the source's owner may be freed already.
        source = nil
        close()
    }

    /// Runs `body` with the TLS session. Returns `nil` on a plain stream.
    package func withSession<Value>(_ body: (borrowing TLSSession) -> Value) -> Value? {
        socket.channel.withSession(body)
    }

    /// The number of bytes that the socket or TLS has accepted so far.
    package private(set) var bytesWritten = 0

    /// The number of appended bytes that the socket has not accepted yet.
    package var queuedBytes: Int { output.count }

    /// The number of bytes that the socket has accepted and that the peer's program has probably not read. The number includes
    /// the overhead of TLS. The estimate is more exact while ``watchesPeer`` is true.
    package var unreadByPeer: Int { socket.unreadByPeer() }

    /// Whether a probe for the peer's receive window is sent every second.
    package var watchesPeer: Bool {
        get { socket.watchesPeer }
        set { socket.watchPeer(newValue) }
    }

    /// Requests a TLS key update. The peer responds when its program has read everything that was sent before. Call this function
    /// only in ``source``, when no output is queued and ``hasKeyUpdates`` is true.
    package func requestKeyUpdate() { keyUpdatesDue += 1 }

    /// Appends output. The output is sent at the end of the turn.
    package func write(_ bytes: UnsafeRawBufferPointer) {
        guard socket.isOpen, outputState == .open else { return }
        output.append(bytes)
        setNeedsFlush()
    }

    /// Sends as much of the queued output as the socket accepts now, and sends the remaining output later. Use this function for
    /// output that must not wait for the end of the turn.
    package func sendNow() {
        guard socket.isOpen, !waitsForRoom else { return }
        flush()
    }

    /// Requests a call of ``source`` at the end of this turn.
    package func setNeedsFlush() {
        guard socket.isOpen, !flushIsDue, !waitsForRoom, outputState != .ended else { return }
        flushIsDue = true
        Loop.atEndOfTurn(self)
    }

    /// If false, the stream does not read, and TCP flow control stops the peer from sending.
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
        // A poll does not report bytes that TLS has already read from the socket.
        if reads, socket.isOpen, socket.channel.hasPending { setNeedsRead() }
    }

    /// Limits how many received bytes the system buffers before they are read here.
    package func limitReceiveBuffer(_ bytes: Int) {
        socket.limitReceiveBuffer(bytes)
    }

    /// Sends the queued output that the socket accepts now, sends close_notify and closes the socket. No callback follows.
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

    /// Sends queued output, closes this side for writing, and continues to read until the peer closes too.
    ///
    /// Closes TLS for writing and then TCP. ``onEnd`` is called when the peer has closed the connection. Bytes of later
    /// ``write(_:)`` calls are dropped, but ``source`` is still called until it appends no more output.
    package func endOutput() {
        if outputState == .open { outputState = .ending }
        setNeedsFlush()
    }

    /// Breaks the connection with a TCP reset. Queued output is not sent.
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

    /// Reads the bytes that have arrived so far. Call this function before you check a timeout, because the awaited bytes may
    /// have arrived and not been read. The number of bytes is limited, so that the loop also serves other streams.
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

    /// Reads the received bytes and then sends a request for a key update. Until OpenSSL has sent the request, OpenSSL does not
    /// read. So without the reading before the request, the peer's last bytes could be lost.
    private func sendKeyUpdate() {
        readNow()
        guard socket.isOpen else { return }
        switch socket.requestKeyUpdate() {
        case .bytes: keyUpdatesDue -= 1
        case .wait: waitForRoom()
        case .end(let end): finishAfterRest(end)
        }
    }

    /// After a failed write, reads the bytes that the peer sent last, such as responses and the reason of a GOAWAY, and then ends
    /// the stream.
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
