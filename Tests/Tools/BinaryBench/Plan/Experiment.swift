import BenchKit

/// One of the experiments of the days of the binary interface.
package struct Experiment: Sendable {
    package let letter: String
    package let title: String
    package let tokens: ExperimentTokens
    /// Lines for the simulator's control command.
    package var faults: [String] = ["binary delay 300ms-700ms"]
    /// Processes that share the tokens by a hash.
    package var senders = 1
    /// One of the processes is killed when half has come.
    package var kills = false
    /// The farm's workers, and their connections if not as many as usual.
    package var workers = 2
    package var connections: Int?
    /// The cores that farm, Redis and simulator may use.
    package var cores: Int?
    /// The HTTP/2 path is measured beside.
    package var comparesPaths = false
    /// Pushes with an unknown outcome may be duplicated.
    package var allowsDoubles = false
    /// The senders of the write-ups are measured beside. Where nothing but time is asked for they would take half an hour.
    package var comparesSenders = true
    /// What the farm is to reach: seconds, and connections at a time.
    package var longest: Double?
    package var mostConnections: Int?
    /// Seconds that a dial takes: the farm is to take no longer than 1.3 times what its dials do, on all connections all the time.
    package var dialSeconds: Double?
    /// Connections of a host, unless others are given.
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
        // Pushes in flight on a long connection when the gateway closed it: a fifth of a second.
        all[5].faults += ["binary close 3000 delay=200ms"]
        // Or no connection would live to see 3,000.
        (all[5].workers, all[5].connections, all[5].allowsDoubles) = (1, 1, true)
        (all[7].longest, all[8].longest) = (10, 60)
        (all[9].dialSeconds, all[10].dialSeconds) = (1, 3)
        for index in 7...10 { (all[index].comparesSenders, all[index].mostConnections) = (false, 64) }
        (all[6].senders, all[6].kills, all[6].workers, all[6].allowsDoubles) = (4, true, 4, true)
        return all
    }()

    /// How much of the list is sent by a sender that waits after each push, in about `budget` seconds: the rest is extrapolated.
    package func part(for habit: Habit, budget: Double) -> Int {
        guard habit.patience > .zero, let interval = habit.interval else { return tokens.count }
        let pauses = budget * Double(senders) / habit.patience.seconds
        return min(tokens.count, max(1, Int(pauses) * interval))
    }
}
