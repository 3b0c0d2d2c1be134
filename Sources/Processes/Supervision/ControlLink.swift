package import ControlChannel
package import EventLoop
import Glibc
package import Transport

/// The file descriptors that a coordinator gives to its children.
package enum ControlDescriptor {
    /// The descriptor of the control channel in every process that a coordinator starts.
    package static let child: Int32 = 3
    /// The descriptor to which the process logs. The process's standard error is only for fatal errors
    /// (``StandardErrorReader``).
    package static let log: Int32 = 5
}

/// One end of a control channel: sends messages to the other process, and receives its messages.
@Loop package final class ControlLink<Sent: ControlMessage, Received: ControlMessage> {
    package var onMessage: @Loop (Received) -> Void = { _ in }
    /// Called once, after the last message, unless ``close()`` was called first. The call means that the other process
    /// has exited or has sent an unreadable message.
    package var onEnd: @Loop (ControlError?) -> Void = { _ in }

    private let stream: ByteStream
    private var frames = ControlFrames<Received>()

    /// Makes a link on a connected descriptor, which the link then owns.
    package convenience init(descriptor: Int32, peer: String) {
        self.init(ByteStream.adopt(descriptor: descriptor, peer: peer))
    }

    package init(_ stream: ByteStream) {
        self.stream = stream
        stream.onBytes = { [unowned self] bytes in read(bytes) }
        stream.onEnd = { [unowned self] _ in onEnd(nil) }
    }

    package func send(_ message: Sent) {
        message.frame.withUnsafeBytes { stream.write($0) }
    }

    /// Queued bytes that were not sent yet, because the other process does not read.
    package var queuedBytes: Int { stream.queuedBytes }

    /// Sends queued messages now, instead of at the end of the loop's turn.
    package func sendNow() { stream.sendNow() }

    package func close() { stream.close() }

    private func read(_ bytes: UnsafeRawBufferPointer) {
        frames.append(bytes)
        do {
            while let message = try frames.next() { onMessage(message) }
        } catch {
            stream.close()
            onEnd(error)
        }
    }
}

/// The two ends of a control channel.
package enum SocketPair {
    package static func make() throws(LoopError) -> (ours: Int32, theirs: Int32) {
        var pair: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &pair) == 0 else { throw LoopError(code: -errno) }
        return (pair[0], pair[1])
    }
}
