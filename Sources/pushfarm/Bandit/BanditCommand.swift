import ArgumentParser
import PushModel
import Variants

struct BanditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bandit", abstract: "Compares ways to divide pushes among variants.",
        subcommands: [BanditSimulateCommand.self])
}

struct BanditSimulateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Simulates ways to divide pushes among variants.",
        discussion: """
            A game is a series of pushes. For each push, the policy chooses a variant and
            learns the reward at once. The table shows averages over all games: the share
            of games whose last push used the best variant, and the rewards.

            Nothing is sent, and no farm is needed.

            Example:
              pushfarm bandit simulate --arms 0.1,0.1,0.9 --policy softmax
              pushfarm bandit simulate --arms 0.2,0.3 --policy thompson --plot a.svg
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(
        help: ArgumentHelp(
            "The reward rate of each variant, 0 to 1, separated by commas.", valueName: "chances"),
        transform: { try BanditSimulateCommand.numbers($0) })
    var arms: [[Double]]

    @Option(
        help: ArgumentHelp(
            "The policy: even, epsilon-greedy, softmax or thompson; repeatable.", valueName: "name"))
    var policy: [String]

    @Option(
        help: ArgumentHelp(
            "The temperatures of the policy softmax, above 0, separated by commas.", valueName: "numbers"),
        transform: { try BanditSimulateCommand.numbers($0) })
    var temperature: [[Double]] = []

    @Option(
        help: ArgumentHelp(
            "The exploration rates of the policy epsilon-greedy, 0 to 1, separated by commas.",
            valueName: "numbers"),
        transform: { try BanditSimulateCommand.numbers($0) })
    var epsilon: [[Double]] = []

    @Option(reads: ArgumentHelp("The number of games.", valueName: "number"))
    var simulations = 5_000

    @Option(reads: ArgumentHelp("The number of pushes in each game.", valueName: "number"))
    var horizon = 250

    @Option(
        reads: ArgumentHelp(
            "The seed of all random choices; the same seed gives the same result.", valueName: "number"))
    var seed: UInt64 = 1

    @Option(
        help: ArgumentHelp("Draws three charts into an SVG file.", valueName: "file"), completion: .file())
    var plot: String?

    private static let counts = 1...1_000_000
    private static let variants = 2...100
    /// The largest number of choices in a run. A run of this size takes some minutes.
    private static let mostChoices = 5_000_000_000.0

    private var chances: [Double] { arms.flatMap { $0 } }

    func validate() throws {
        guard Self.variants.contains(chances.count) else {
            throw ValidationError("--arms must have 2 to 100 reward rates; this option has \(chances.count).")
        }
        guard chances.allSatisfy((0...1).contains) else {
            throw ValidationError("Each reward rate of --arms must be from 0 to 1.")
        }
        for (name, count) in [("--simulations", simulations), ("--horizon", horizon)]
        where !Self.counts.contains(count) {
            throw ValidationError("\(name) is 1 to 1000000.")
        }
        let allocations = try allocations()
        let choices = Double(simulations) * Double(horizon) * Double(allocations.count * chances.count)
        guard choices <= Self.mostChoices else {
            throw ValidationError(
                "\(simulations) simulations × horizon \(horizon) × \(allocations.count) policies × "
                    + "\(chances.count) variants are more than 5000000000; use fewer.")
        }
    }

    func run() throws {
        _ = try common.load()
        let simulation = BanditSimulation(
            chances: chances, simulations: simulations, horizon: horizon, seed: seed)
        let report = BanditReport(
            chances: chances, simulations: simulations, seed: seed,
            courses: try allocations().map { ($0.name, simulation.course(of: $0.allocation)) })
        if let plot { try report.write(chartTo: plot) }
        let console = Console(json: common.json)
        console.show(report.json, report.text(console.style))
    }

    /// The allocations to compare, each with a name for the table and the chart.
    private func allocations() throws -> [(name: String, allocation: Allocation)] {
        let (temperatures, epsilons) = (temperature.flatMap { $0 }, epsilon.flatMap { $0 })
        guard temperatures.allSatisfy({ $0 > 0 }) else {
            throw ValidationError("Each number of --temperature must be above 0.")
        }
        guard epsilons.allSatisfy((0...1).contains) else {
            throw ValidationError("Each number of --epsilon must be from 0 to 1.")
        }
        for (option, values, name) in [
            ("--temperature", temperatures, "softmax"), ("--epsilon", epsilons, "epsilon-greedy"),
        ] where !values.isEmpty && !policy.contains(name) {
            throw ValidationError("\(option) needs --policy \(name).")
        }
        return try policy.flatMap { name -> [(name: String, allocation: Allocation)] in
            switch name {
            case "even": return [(name, .even)]
            case "thompson": return [(name, .thompson)]
            case "softmax":
                return (temperatures.isEmpty ? [0.1] : temperatures).map {
                    ("softmax \($0)", .softmax(temperature: $0))
                }
            case "epsilon-greedy":
                return (epsilons.isEmpty ? [0.1] : epsilons).map {
                    ("epsilon-greedy \($0)", .epsilonGreedy(epsilon: $0))
                }
            default:
                let names = ["even", "epsilon-greedy", "softmax", "thompson"]
                let nearest = NearestWord.find(name, among: names)
                throw ValidationError(
                    "there is no policy \"\(name.prefix(40))\"; "
                        + (nearest.map { "did you mean \($0)?" }
                            ?? "they are \(names.joined(separator: ", "))."))
            }
        }
    }

    private static func numbers(_ text: String) throws -> [Double] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { part in
            guard let number = Double(part), number.isFinite else {
                throw ValidationError(
                    "\"\(part.prefix(40))\" is not a number; separate numbers by commas.")
            }
            return number
        }
    }
}
