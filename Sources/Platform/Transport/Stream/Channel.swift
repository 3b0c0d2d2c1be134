import EventLoop
import OpenSSL
import POSIX

/// Reads and writes a connected descriptor, plain or through TLS.
enum Channel: ~Copyable {
    case plain
    case tls(TLSSession)

    /// The result of a read or a write.
    enum Step {
        case bytes(Int)
        case wait(Poll.Interest)
        case end(StreamEnd)
    }

    var hasPending: Bool { withSession { $0.hasPending } ?? false }

    func withSession<Value>(_ body: (borrowing TLSSession) -> Value) -> Value? {
        switch self {
        case .plain: nil
        case .tls(let session): body(session)
        }
    }

    func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Step {
        switch self {
        case .plain:
            let count = POSIX.read(descriptor, buffer.baseAddress, buffer.count)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .end(.closed) }
            return Self.step(after: "read", waitingFor: .readable)
        case .tls(let session):
            do { return Step(try session.read(into: buffer)) } catch { return .end(.failed(.tls(error))) }
        }
    }

    func write(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Step {
        switch self {
        case .plain:
            let count = POSIX.write(descriptor, bytes.baseAddress, bytes.count)
            if count >= 0 { return .bytes(count) }
            return Self.step(after: "write", waitingFor: .writable)
        case .tls(let session):
            do { return Step(try session.write(bytes)) } catch { return .end(.failed(.tls(error))) }
        }
    }

    /// Asks the peer of a TLS connection to update its keys.
    func requestKeyUpdate() -> Step {
        switch self {
        case .plain: return .bytes(0)
        case .tls(let session):
            do {
                switch try session.requestKeyUpdate() {
                case .done: return .bytes(0)
                case .wantRead: return .wait(.readable)
                case .wantWrite: return .wait(.writable)
                }
            } catch { return .end(.failed(.tls(error))) }
        }
    }

    func sendCloseNotify() {
        switch self {
        case .plain: break
        case .tls(let session):
            // An error is ignored, because the peer may have closed the connection already.
            do { _ = try session.shutdown() } catch {}
        }
    }

    private static func step(after call: String, waitingFor interest: Poll.Interest) -> Step {
        switch errno {
        case EAGAIN, EINTR: .wait(interest)
        default: .end(.failed(.system(call: call, number: errno)))
        }
    }
}

extension Channel.Step {
    fileprivate init(_ transfer: TLSTransfer) {
        self =
            switch transfer {
            case .bytes(let count): .bytes(count)
            case .wantRead: .wait(.readable)
            case .wantWrite: .wait(.writable)
            case .closed: .end(.closed)
            }
    }
}

/// The descriptor of a stream until it is closed, with an estimate of the peer's unread bytes.
@Loop struct StreamSocket: ~Copyable {
    let descriptor: Int32
    private(set) var channel: Channel
    private(set) var isOpen = true
    private var lag = PeerLag()

    init(_ descriptor: Int32, _ channel: consuming Channel) {
        self.descriptor = descriptor
        self.channel = channel
    }

    /// Reads into ``ReadBuffer/shared``.
    func read() -> Channel.Step { channel.read(descriptor, into: ReadBuffer.shared) }

    func requestKeyUpdate() -> Channel.Step {
        Socket.hasRoom(descriptor) ? channel.requestKeyUpdate() : .wait(.writable)
    }

    var watchesPeer: Bool { lag.isWatched }

    mutating func unreadByPeer() -> Int { isOpen ? lag.bytes(descriptor) : 0 }

    mutating func watchPeer(_ isWatched: Bool) {
        if isOpen { lag.watch(isWatched, descriptor) }
    }

    func limitReceiveBuffer(_ bytes: Int) {
        if isOpen { Socket.limitReceiveBuffer(descriptor, bytes) }
    }

    func resetOnClose() { Socket.resetOnClose(descriptor) }

    /// Closes this side for writing, which tells the peer that no more bytes come. Reading continues.
    func endOutput() {
        channel.sendCloseNotify()
        Socket.endOutput(descriptor)
    }

    /// Frees the TLS session, then closes the descriptor.
    mutating func close() {
        isOpen = false
        channel = .plain
        Socket.close(descriptor)
    }
}
