package import DeviceSimulation

/// Reads the model file of the simulator's devices.
extension DevicePopulation {
    /// A file with all keys and their meaning.
    static let sample = "deploy/devices.yaml"

    private static let profilesPath = SettingPath("profiles")

    static var shape: Shape {
        guard case .group(let entries) = Shape(grouping: keys.map { ($0.path.parts[...], $0.isList) }) else {
            return .value
        }
        let profile = Shape(grouping: profileKeys.map { ($0.path.parts[...], $0.isList) })
        return .group(entries + [("profiles", .named(profile))])
    }

    /// Reads a model from a YAML or JSON file.
    package static func load(path: String) throws(ConfigurationError) -> DevicePopulation {
        let text: String
        do {
            text = try ConfigurationFile.read(path)
        } catch {
            throw ConfigurationError(source: nil, key: nil, problem: .unreadable(error.reason))
        }
        return try read(text, file: path)
    }

    /// Reads a model like ``load(path:)``, from a text instead of a file.
    package static func read(_ text: String, file: String) throws(ConfigurationError) -> DevicePopulation {
        let settings = try FileLayer(file: file, shape: shape, sample: sample).read(text)
        let reader = SettingReader(
            settings: settings, workingDirectory: ConfigurationFile.workingDirectory, environment: [:],
            purpose: .client)
        var population = DevicePopulation()
        for key in keys { try key.read(reader, into: &population) }
        try population.readProfiles(reader)
        return population
    }

    private mutating func readProfiles(_ reader: SettingReader) throws(ConfigurationError) {
        let names = reader.settings.names(below: Self.profilesPath)
        guard !names.isEmpty else {
            throw reader.missing(Self.profilesPath, "the model has no profile")
        }
        guard names.count <= Self.mostProfiles else {
            throw reader.invalid(Self.profilesPath, "has more than \(Self.mostProfiles) profiles")
        }
        profiles = []
        for name in names {
            let path = Self.profilesPath.appending(name)
            var profile = DeviceProfile()
            for key in Self.profileKeys { try key.read(reader, below: path, into: &profile) }
            try Self.check(profile, at: path, reader)
            profiles.append(Named(name: name, profile: profile))
        }
        let sum = profiles.reduce(0) { $0 + $1.profile.share }
        guard abs(sum - 1) < 1e-6 else {
            let percent = (sum * 10_000).rounded() / 100
            throw reader.invalid(
                Self.profilesPath, "the shares of the profiles have the sum \(percent)%, not 100%")
        }
    }

    private static func check(
        _ profile: DeviceProfile, at path: SettingPath, _ reader: SettingReader
    ) throws(ConfigurationError) {
        for hour in 0..<HourlyShare.hours where profile.wifi[hour] + profile.cellular[hour] > 1 + 1e-9 {
            throw reader.invalid(
                path.appending("cellular"), "wifi and cellular exceed 100% in the hour from \(hour):00")
        }
        guard profile.delay.p99 >= profile.delay.p50 else {
            throw reader.invalid(path.appending("delay"), "p99 is below p50")
        }
    }
}
