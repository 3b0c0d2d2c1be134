/// The faults of a link in each direction. `up` leads from the client to the server.
package struct LinkFare: Equatable, Sendable {
    package struct Way: Equatable, Sendable {
        /// The delay that is added to all bytes.
        package var delay = Duration.zero
        /// Bytes a second; nil means no limit.
        package var rate: Int?
        /// No bytes arrive, as with dropped packets. Bytes that are sent meanwhile arrive afterwards.
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
