import EventLoop

/// One way to break a farm, with its number in docs/internals/proof.md.
package struct Scenario: Sendable {
    package let number: Int
    package let name: String
    let options: Stage.Options
    /// The time limit for all jobs to finish after the last fault.
    let timeout: Duration
    let play: @Loop @Sendable (Stage) async throws -> Void

    init(
        _ number: Int, _ name: String, _ options: Stage.Options = Stage.Options(),
        timeout: Duration = .seconds(120),
        play: @escaping @Loop @Sendable (Stage) async throws -> Void
    ) {
        (self.number, self.name, self.options, self.play) = (number, name, options, play)
        self.timeout = timeout
    }

    package static let all: [Scenario] =
        (processes + redisTrouble + gatewayTrouble + poison + limits + network + orderly + [
            swizzle, campaigns,
        ])
        .sorted { $0.number < $1.number }
}

extension Stage {
    /// Repeats an action, with a delay after each run, until the time for faults (`scale.span`) has passed. Runs the action at
    /// least once.
    func again(every pause: Duration, _ body: () async throws -> Void) async throws {
        let end = ContinuousClock.now + scale.span
        repeat {
            try await self.pause(pause)
            try await body()
        } while ContinuousClock.now < end
    }
}

extension Stage.Options {
    static func with(_ change: (inout Self) -> Void) -> Self {
        var options = Self()
        change(&options)
        return options
    }
}
