/// Pauses between tries: 50 ms, doubling to 1 s, each shortened by chance by up to a half.
package struct ReconnectBackoff: Sendable {
    private var next: Duration = .milliseconds(50)

    package init() {}

    package mutating func pause() -> Duration {
        defer { next = min(next * 2, .seconds(1)) }
        return next * Double.random(in: 0.5...1)
    }
}
