import PushModel

/// Reads `PUSHFARM_…` variables into settings.
///
/// A variable's name is the key's path in upper case, joined by `_` (`log.level` is `PUSHFARM_LOG_LEVEL`). In an app's name, `.`
/// and `-` become `_` too: `apps.my-app.key.id` is `PUSHFARM_APPS_MY_APP_KEY_ID`. A variable of an app applies to the app in the
/// file whose name, changed in this way, is a part of the variable's name. If no app of the file matches, the variable creates an
/// app, whose name is this part of the variable's name in lower case.
struct EnvironmentLayer {
    static let prefix = "PUSHFARM_"
    /// The variable that names the configuration file.
    static let fileVariable = "PUSHFARM_CONFIG"
    /// The variable with the factor by which the intake divides the durations of campaigns in demonstrations.
    static let timeFactorVariable = "PUSHFARM_TIME_FACTOR"

    /// Variables that are not settings. A release build does not know the failpoint variables, and refuses to start if one of
    /// them is set.
    private static let reserved: Set<String> = {
        #if FAILPOINTS
            [
                fileVariable, timeFactorVariable, "PUSHFARM_FAILPOINTS", "PUSHFARM_FAILPOINTS_FOLDER",
                "PUSHFARM_FAILPOINTS_CLOCK",
            ]
        #else
            [fileVariable, timeFactorVariable]
        #endif
    }()

    let knownApps: [String]

    private static func checkTimeFactor(_ environment: [String: String]) throws(ConfigurationError) {
        guard let text = environment[timeFactorVariable] else { return }
        guard text.utf8.count <= 20, let factor = Double(text), (1.0...10_000).contains(factor) else {
            throw ConfigurationError(
                source: .environment(timeFactorVariable), key: nil,
                problem: .invalid("must be a number from 1 to 10000"))
        }
    }

    func read(_ environment: [String: String]) throws(ConfigurationError) -> Settings {
        try Self.checkTimeFactor(environment)
        var settings = Settings()
        for (variable, text) in environment.sorted(by: { $0.key < $1.key })
        where variable.hasPrefix(Self.prefix) && !Self.reserved.contains(variable) {
            let source = ConfigurationError.Source.environment(variable)
            let path = try path(of: variable, at: source)
            settings.set(path, to: Setting(text: text, source: source))
        }
        return settings
    }

    private func path(
        of variable: String, at source: ConfigurationError.Source
    ) throws(ConfigurationError) -> SettingPath {
        let name = String(variable.dropFirst(Self.prefix.count))
        let plain = Schema.paths
        if let path = plain.first(where: { Self.spelling(of: $0) == name }) { return path }
        if name.hasPrefix("APPS_"), let path = try appPath(of: name.dropFirst(5), at: source) { return path }
        let nearest =
            name.hasPrefix("APPS_")
            ? nearestAppVariable(name) : NearestWord.find(name, among: plain.map(Self.spelling(of:)))
        throw ConfigurationError(
            source: source, key: nil, problem: .unknownKey(nearest: nearest.map { Self.prefix + $0 }))
    }

    /// Returns the path of an app's variable: tries the file's apps first. If no app matches, the longest known key at the end of
    /// `name` is the key, and the text before the key is the app.
    private func appPath(
        of name: Substring, at source: ConfigurationError.Source
    ) throws(ConfigurationError) -> SettingPath? {
        let keys = Schema.appPaths.map { (path: $0, spelling: "_" + Self.spelling(of: $0)) }
            .filter { name.hasSuffix($0.spelling) && name.count > $0.spelling.count }
            .sorted { $0.spelling.count > $1.spelling.count }
        for key in keys {
            let written = name.dropLast(key.spelling.count)
            let apps = knownApps.filter { Self.spelling(of: $0) == written }
            if apps.count > 1 {
                throw ConfigurationError(
                    source: source, key: nil,
                    problem: .invalid(
                        "is ambiguous: it could mean any of the apps \(apps.sorted().joined(separator: ", "))"
                    ))
            }
            if let app = apps.first { return SettingPath(parts: ["apps", app] + key.path.parts) }
        }
        guard let key = keys.first else { return nil }
        let app = name.dropLast(key.spelling.count).lowercased()
        return SettingPath(parts: ["apps", app] + key.path.parts)
    }

    /// Suggests the correct name of a misspelt variable. If the variable begins with a known app, compares the text after the
    /// app's name with the keys. If the app is unknown, compares the text after each `_` with the keys.
    private func nearestAppVariable(_ name: String) -> String? {
        let keys = Schema.appPaths.map(Self.spelling(of:))
        for app in knownApps.sorted().map(Self.spelling(of:)) where name.hasPrefix("APPS_\(app)_") {
            let key = NearestWord.find(String(name.dropFirst(app.count + 6)), among: keys)
            return key.map { "APPS_\(app)_\($0)" }
        }
        var rest = name.dropFirst(5)
        while let mark = rest.firstIndex(of: "_") {
            rest = rest[rest.index(after: mark)...]
            if let key = NearestWord.find(String(rest), among: keys) { return "APPS_APP_" + key }
        }
        return nil
    }

    private static func spelling(of path: SettingPath) -> String {
        path.parts.map(spelling(of:)).joined(separator: "_")
    }

    private static func spelling(of name: String) -> String {
        String(name.uppercased().map { $0 == "-" || $0 == "." ? "_" : $0 })
    }
}
