import FarmConfiguration

/// What `--set` changes of a demo's farm: settings of its app, but none that leads it away from its simulator.
struct DemoSettings: Sendable {
    /// For the coordinator.
    let arguments: [String]

    static let app = "demo"

    /// - Parameter assignments: each `KEY=VALUE`. Everything is checked here, before there is a process to end.
    init(_ assignments: [String]) throws {
        let given = try assignments.map { assignment throws(ConfigurationError) in
            try Override(assignment: assignment)
        }
        let own = try Self.simulated.map { assignment throws(ConfigurationError) in
            try Override(assignment: assignment)
        }
        // Neither file nor environment: a mistake there is none of the demo's.
        _ = try Configuration.read("", file: nil, overrides: given + own)
        let taken = Set(own.map(\.key))
        for override in given {
            guard override.key.hasPrefix("apps.\(Self.app).") else {
                throw CommandFailure.usage(
                    "\(override.flag): \(override.key): a demo takes settings of its app only, as in apps.\(Self.app).max_conns=2"
                )
            }
            guard !taken.contains(override.key) else {
                throw CommandFailure.usage(
                    "\(override.flag): \(override.key): the demo sets it itself, for its simulated gateway")
            }
        }
        arguments = assignments.flatMap { ["--set", $0] }
    }

    /// Stands for what the simulator will say of itself.
    private static let simulated =
        SimulatorStarted(
            gateway: "https://127.0.0.1:1", binary: nil, feedback: nil, caFile: "/demo", keyFile: "/demo",
            keyID: "ABCDE12345", team: "ABCDE12345", certificateFile: "/demo", bundle: "com.example.demo",
            control: "/demo"
        ).settings(of: app) + ["apps.\(app).topic=com.example.demo"]
}
