import EventLoop
import Transport

/// Forwards bytes from one stream to another, with delay and rate limit.
@Loop final class Pump {
    private struct Chunk {
        let due: ContinuousClock.Instant
        var bytes: ArraySlice<UInt8>
    }

    var way: LinkFaults.Direction {
        didSet { flow() }
    }
    /// Called when the source has ended and all its bytes are forwarded.
    var onEnd: @Loop () -> Void = {}

    private let source: ByteStream
    private let sink: ByteStream
    private var chunks: [Chunk] = []
    private var waiting = 0
    private var hasEnded = false
    private var isStopped = false
    /// The earliest time at which the rate limit allows more bytes.
    private var paidUntil = ContinuousClock.now
    private lazy var timer = Timer { [unowned self] in flow() }

    /// The most bytes that the pump buffers. A full pump stops reading from the source.
    private static let room = 4 << 20

    init(from source: ByteStream, to sink: ByteStream, _ way: LinkFaults.Direction) {
        (self.source, self.sink, self.way) = (source, sink, way)
        source.onBytes = { [unowned self] in take($0) }
        source.onEnd = { [unowned self] _ in end() }
    }

    func stop() {
        isStopped = true
        chunks = []
        source.onBytes = { _ in }
        source.onEnd = { _ in }
        timer.stop()
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        guard !chunks.isEmpty || way != LinkFaults.Direction() else { return sink.write(bytes) }
        chunks.append(Chunk(due: .now + way.delay, bytes: Array(bytes)[...]))
        waiting += bytes.count
        if waiting > Self.room { source.isReading = false }
        flow()
    }

    private func end() {
        hasEnded = true
        flow()
    }

    /// Forwards the bytes that are due and within the rate limit.
    private func flow() {
        guard !isStopped, !way.isBlocked else { return }
        let now = ContinuousClock.now
        while let first = chunks.first {
            let due = max(first.due, way.rate == nil ? first.due : paidUntil)
            guard due <= now else { return timer.start(after: due - now) }
            let portion = first.bytes.prefix(way.rate.map { max(1, $0 / 20) } ?? first.bytes.count)
            portion.withUnsafeBytes { sink.write($0) }
            waiting -= portion.count
            if let rate = way.rate { paidUntil = now + .seconds(Double(portion.count) / Double(rate)) }
            chunks[0].bytes = first.bytes.dropFirst(portion.count)
            if chunks[0].bytes.isEmpty { chunks.removeFirst() }
        }
        if !hasEnded, waiting <= Self.room { source.isReading = true }
        if hasEnded { onEnd() }
    }
}
