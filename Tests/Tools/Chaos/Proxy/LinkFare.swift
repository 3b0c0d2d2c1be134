/// How the bytes of a link fare, by direction: `up` is from the one who connected to the one who listens.
package struct LinkFare: Equatable, Sendable {
    package struct Way: Equatable, Sendable {
        /// How much later bytes arrive.
        package var delay = Duration.zero
        /// Bytes a second; nil: as many as there are.
        package var rate: Int?
        /// Nothing arrives, as when packets are dropped; what was sent before comes later, when this is over.
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
