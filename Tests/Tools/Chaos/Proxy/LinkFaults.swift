/// The faults of a link in each direction. `up` leads from the client to the server.
package struct LinkFaults: Equatable, Sendable {
    package struct Direction: Equatable, Sendable {
        /// The delay of all bytes.
        package var delay = Duration.zero
        /// Bytes a second; nil means no limit.
        package var rate: Int?
        /// Whether the proxy holds all bytes back, as if the network dropped all packets. After the fault, these bytes arrive.
        package var isBlocked = false

        package init(delay: Duration = .zero, rate: Int? = nil, isBlocked: Bool = false) {
            self.delay = delay
            self.rate = rate
            self.isBlocked = isBlocked
        }
    }

    package var up: Direction
    package var down: Direction

    package init(up: Direction = Direction(), down: Direction = Direction()) {
        self.up = up
        self.down = down
    }

    package static func both(_ way: Direction) -> Self { Self(up: way, down: way) }
    package static let blackhole = both(Direction(isBlocked: true))
}
