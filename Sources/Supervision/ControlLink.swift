package import ControlChannel
package import EventLoop
import Transport

/// One end of a control channel: what this process tells the other, and what it hears from it.
@Loop package final class ControlLink<Told: ControlMessage, Heard: ControlMessage> {
    /// The channel's descriptor in every process that a coordinator starts.
    package nonisolated static var childDescriptor: Int32 { 3 }

    package var onMessage: @Loop (Heard) -> Void = { _ in }
    /// Is called once, after the last message, unless ``close()`` came first: the other process is gone, or does not
    /// speak our language.
    package var onEnd: @Loop (ControlError?) -> Void = { _ in }

    private let stream: ByteStream
    private var frames = ControlFrames<Heard>()

    /// Takes over a connected descriptor.
    package init(descriptor: Int32, peer: String) {
        stream = ByteStream.adopt(descriptor: descriptor, peer: peer)
        stream.onBytes = { [unowned self] bytes in read(bytes) }
        stream.onEnd = { [unowned self] _ in onEnd(nil) }
    }

    package func tell(_ message: Told) {
        message.frame.withUnsafeBytes { stream.write($0) }
    }

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
