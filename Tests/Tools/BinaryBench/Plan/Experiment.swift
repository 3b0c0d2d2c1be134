import BenchKit

/// One experiment with the binary interface: a token list, gateway faults and targets.
package struct Experiment: Sendable {
    package let letter: String
    package let title: String
    package let tokens: ExperimentTokens
    /// Control commands that the simulator executes at its start.
    package var faults: [String] = ["binary delay 300ms-700ms"]
    /// The number of sender processes, which share the tokens by a hash.
    package var senders = 1
    /// Whether to kill one of the sender processes when half of the pushes have arrived at the gateway.
    package var kills = false
    /// The number of the farm's workers.
    package var workers = 2
    /// The farm's setting `connections`; nil for ``usualConnections``.
    package var connections: Int?
    /// The number of cores for farm, Redis and simulator together.
    package var cores: Int?
    /// Whether the farm also runs the experiment over HTTP/2.
    package var comparesPaths = false
    /// Whether pushes with an unknown outcome may be duplicated.
    package var allowsDoubles = false
    /// Whether to measure the historic senders, too. False for experiments that only measure time, because historic
    /// senders would take half an hour.
    package var comparesSenders = true
    /// The farm's target: the most seconds that the experiment may take; nil without a target.
    package var longest: Double?
    /// The farm's target: the most connections that may be open at a time; nil without a target.
    package var mostConnections: Int?
    /// The seconds that one dial takes. The farm may take at most 1.3 times as long as its dials would take if all connections
    /// dialled all the time.
    package var dialSeconds: Double?
    /// The number of connections of a host in experiments that set no number.
    package static let usualConnections = 56

    package static let all: [Experiment] = {
        var all = [
            Experiment(letter: "a", title: "100,000 good tokens", tokens: ExperimentTokens(count: 100_000)),
            Experiment(
                letter: "b", title: "100,000 tokens, 1,000 of them bad, evenly spread",
                tokens: ExperimentTokens(count: 100_000, bad: .evenly(1_000))),
            Experiment(
                letter: "c", title: "1,000 tokens, a bad one at place 20",
                tokens: ExperimentTokens(count: 1_000, bad: .at(20))),
            Experiment(
                letter: "d", title: "A good, B bad, C good, D bad, E good",
                tokens: ExperimentTokens(count: 5, bad: .everySecond)),
            Experiment(
                letter: "e", title: "1,000,000 good tokens", tokens: ExperimentTokens(count: 1_000_000)),
            Experiment(
                letter: "f", title: "10,000 good tokens, a disconnect without a cause every 3,000",
                tokens: ExperimentTokens(count: 10_000)),
            Experiment(
                letter: "g", title: "100,000 good tokens by hash over 4 workers, one of them killed half-way",
                tokens: ExperimentTokens(count: 100_000)),
            Experiment(
                letter: "h", title: "as (b), replies after 50 to 100 ms",
                tokens: ExperimentTokens(count: 100_000, bad: .evenly(1_000)),
                faults: ["binary delay 50ms-100ms"]),
            Experiment(
                letter: "i", title: "as (b), replies after 1 to 2 s",
                tokens: ExperimentTokens(count: 100_000, bad: .evenly(1_000)), faults: ["binary delay 1s-2s"]),
            Experiment(
                letter: "j", title: "as (b), a dial takes 1 s",
                tokens: ExperimentTokens(count: 100_000, bad: .evenly(1_000)),
                faults: ["binary delay 300ms-700ms", "binary accept 1s"]),
            Experiment(
                letter: "k", title: "as (b), a dial takes 3 s",
                tokens: ExperimentTokens(count: 100_000, bad: .evenly(1_000)),
                faults: ["binary delay 300ms-700ms", "binary accept 3s"]),
        ]
        all[0].comparesPaths = true
        (all[1].longest, all[1].mostConnections) = (20, 64)
        (all[4].longest, all[4].cores) = (60, 2)
        // When the gateway closes a connection, the pushes of the last 0.2 s are in flight.
        all[5].faults += ["binary close 3000 delay=200ms"]
        // With more connections no connection would reach 3,000 pushes.
        (all[5].workers, all[5].connections, all[5].allowsDoubles) = (1, 1, true)
        (all[7].longest, all[8].longest) = (10, 60)
        (all[9].dialSeconds, all[10].dialSeconds) = (1, 3)
        for index in 7...10 { (all[index].comparesSenders, all[index].mostConnections) = (false, 64) }
        (all[6].senders, all[6].kills, all[6].workers, all[6].allowsDoubles) = (4, true, 4, true)
        return all
    }()

    /// The number of pushes that a sender with this habit sends in about `budget` seconds. The rest of the list is extrapolated.
    package func part(for habit: ReadingHabit, budget: Double) -> Int {
        guard habit.timeout > .zero, let interval = habit.interval else { return tokens.count }
        let pauses = budget * Double(senders) / habit.timeout.seconds
        return min(tokens.count, max(1, Int(pauses) * interval))
    }
}
