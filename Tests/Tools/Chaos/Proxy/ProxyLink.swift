package import EventLoop
import Transport

/// One connection through the proxy: a stream to each side, and a pump for each direction.
@Loop package final class ProxyLink {
    package enum Cut: Sendable {
        /// Both sides see an orderly end (FIN).
        case finish
        /// Both sides see a reset.
        case reset
        /// The server sees an orderly end (FIN). The client keeps its connection and receives nothing more.
        case halfOpen
    }

    package let number: Int
    package var fare: LinkFaults {
        didSet {
            up.way = fare.up
            down.way = fare.down
        }
    }

    private let near: ByteStream
    private let far: ByteStream
    private let up: Pump
    private let down: Pump
    private let onEnd: @Loop (ProxyLink) -> Void
    private var isOver = false

    init(
        number: Int, near: ByteStream, far: ByteStream, fare: LinkFaults,
        onEnd: @escaping @Loop (ProxyLink) -> Void
    ) {
        (self.number, self.near, self.far, self.fare, self.onEnd) = (number, near, far, fare, onEnd)
        up = Pump(from: near, to: far, fare.up)
        down = Pump(from: far, to: near, fare.down)
        for pump in [up, down] { pump.onEnd = { [unowned self] in finish() } }
    }

    package func cut(_ how: Cut) {
        switch how {
        case .finish: finish()
        case .reset:
            near.reset()
            far.reset()
            finish()
        case .halfOpen:
            down.stop()
            up.stop()
            far.close()
            near.onEnd = { [unowned self] _ in finish() }
        }
    }

    private func finish() {
        guard !isOver else { return }
        isOver = true
        up.stop()
        down.stop()
        near.close()
        far.close()
        onEnd(self)
    }
}
