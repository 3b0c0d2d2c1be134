/// The faults of a link by direction: `up` leads from the client to the server.
package struct LinkFare: Equatable, Sendable {
    package struct Way: Equatable, Sendable {
        /// How much later bytes arrive.
        package var delay = Duration.zero
        /// Bytes a second; nil: no limit.
        package var rate: Int?
        /// Nothing arrives, as with dropped packets; bytes sent meanwhile arrive afterwards.
        package var isBlocked = false

        package init(delay: Duration = .zero, rate: Int? = nil, isBlocked: Bool = false) {
            self.delay = delay
            self.rate = rate
            self.isBlocked = isBlocked
        }
    }

    package var up: Way
    package var down: Way

    package init(up: Way = Way(), down: Way = Way()) {
        self.up = up
        self.down = down
    }

    package static func both(_ way: Way) -> Self { Self(up: way, down: way) }
    package static let blackhole = both(Way(isBlocked: true))
}
