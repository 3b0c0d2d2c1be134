import FarmConfiguration

/// The settings of the demo's app that the user changes with `--set`. Settings with which the app would use another
/// gateway are refused.
struct DemoSettings: Sendable {
    /// The arguments for the coordinator.
    let arguments: [String]

    static let app = "demo"

    /// - Parameter assignments: the values of `--set`, `KEY=VALUE`. The initializer checks all values, so that an error
    ///   shows before the farm starts.
    init(_ assignments: [String]) throws {
        let given = try assignments.map { assignment throws(ConfigurationError) in
            try Override(assignment: assignment)
        }
        let own = try Self.simulated.map { assignment throws(ConfigurationError) in
            try Override(assignment: assignment)
        }
        // Check the settings without the user's configuration file and environment, because errors in these must not
        // stop the demo.
        _ = try Configuration.read("", file: nil, overrides: given + own)
        let taken = Set(own.map(\.key))
        for override in given {
            guard override.key.hasPrefix("apps.\(Self.app).") else {
                throw CommandFailure.usage(
                    "\(override.flag): \(override.key): a demo takes only settings of its app, as in apps.\(Self.app).max_conns=2"
                )
            }
            guard !taken.contains(override.key) else {
                throw CommandFailure.usage(
                    "\(override.flag): \(override.key): the demo sets it for its simulated gateway")
            }
        }
        arguments = assignments.flatMap { ["--set", $0] }
    }

    /// The settings that the demo makes itself, with placeholders for the values that the simulator reports after its
    /// start.
    private static let simulated =
        SimulatorStarted(
            gateway: "https://127.0.0.1:1", binary: nil, feedback: nil, caFile: "/demo", keyFile: "/demo",
            keyID: "ABCDE12345", team: "ABCDE12345", certificateFile: "/demo", bundle: "com.example.demo",
            control: "/demo"
        ).settings(of: app) + ["apps.\(app).topic=com.example.demo"]
}
