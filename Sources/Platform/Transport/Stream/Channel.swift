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

    var hasPending: Bool {
        switch self {
        case .plain: false
        case .tls(let session): session.hasPending
        }
    }

    var applicationProtocol: String? {
        switch self {
        case .plain: nil
        case .tls(let session): session.applicationProtocol
        }
    }

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

    /// Asks the peer to update its keys, on a TLS connection.
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

    func sayGoodbye() {
        switch self {
        case .plain: break
        case .tls(let session):
            // The peer may be gone already; no peer is left to tell.
            do { _ = try session.shutdown() } catch {}
        }
    }

    /// Frees the session before its descriptor is closed.
    mutating func drop() { self = .plain }

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
