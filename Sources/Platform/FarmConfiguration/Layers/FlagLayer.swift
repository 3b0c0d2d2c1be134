import PushModel

/// A value that a command-line flag sets.
package struct Override: Sendable, Equatable {
    /// The dotted key, such as `apps.demo.gateway`. The app's name may contain dots itself.
    package let key: String
    package let text: String
    /// The flag as the user wrote it, such as `--workers`, for error messages.
    package let flag: String

    package init(key: String, text: String, flag: String) {
        self.key = key
        self.text = text
        self.flag = flag
    }

    /// Reads the argument `KEY=VALUE` of `--set`.
    package init(assignment: String) throws(ConfigurationError) {
        guard let equals = assignment.firstIndex(of: "="), equals > assignment.startIndex else {
            throw ConfigurationError(
                source: .flag("--set"), key: nil,
                problem: .wrongType(expected: "KEY=VALUE, as in workers=4", found: "no ="))
        }
        self.init(
            key: String(assignment[..<equals]), text: String(assignment[assignment.index(after: equals)...]),
            flag: "--set")
    }
}

enum FlagLayer {
    static func read(_ overrides: [Override]) throws(ConfigurationError) -> Settings {
        var settings = Settings()
        for override in overrides {
            let source = ConfigurationError.Source.flag(override.flag)
            settings.set(try path(of: override, at: source), to: Setting(text: override.text, source: source))
        }
        return settings
    }

    private static func path(
        of override: Override, at source: ConfigurationError.Source
    ) throws(ConfigurationError) -> SettingPath {
        let plain = Schema.paths
        if let path = plain.first(where: { $0.description == override.key }) { return path }
        let inApp = Schema.appPaths
        guard override.key.hasPrefix("apps.") else {
            throw ConfigurationError(
                source: source, key: override.key,
                problem: .unknownKey(nearest: NearestWord.find(override.key, among: plain.map(\.description)))
            )
        }
        let rest = override.key.dropFirst(5)
        let matches = inApp.filter { rest.hasSuffix("." + $0.description) }
        if let path = matches.max(by: { $0.description.utf8.count < $1.description.utf8.count }) {
            let app = rest.dropLast(path.description.count + 1)
            if !app.isEmpty { return SettingPath(parts: ["apps", String(app)] + path.parts) }
        }
        let last = rest.split(separator: ".", maxSplits: 1).last.map(String.init) ?? ""
        let nearest = NearestWord.find(last, among: inApp.map(\.description))
        throw ConfigurationError(
            source: source, key: override.key,
            problem: .unknownKey(nearest: nearest.map { "apps.APP." + $0 }))
    }
}
