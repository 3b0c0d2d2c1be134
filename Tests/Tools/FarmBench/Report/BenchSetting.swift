/// The machine and the software versions of a bench run.
package struct BenchSetting: Codable, Sendable, Hashable {
    package var machine: String
    package var memory: String
    package var kernel: String
    package var day: String
    /// The version text of each program, by the program's name.
    package var versions: [String: String]
    /// The cores that all processes of the bench run on.
    package var cores: [Int]
    package var command: String

    package init(
        machine: String, memory: String, kernel: String, day: String, versions: [String: String],
        cores: [Int], command: String
    ) {
        (self.machine, self.memory, self.kernel, self.day) = (machine, memory, kernel, day)
        (self.versions, self.cores, self.command) = (versions, cores, command)
    }

    package var lines: [String] {
        let cores = cores.map(String.init).joined(separator: " and ")
        return [
            "\(machine), \(memory), \(kernel), \(day)",
            versions.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", "),
            "everything on the cores \(cores): farm, Redis (append-only, everysec), simulator, h2load, this bench",
            command,
        ]
    }
}
