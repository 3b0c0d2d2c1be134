/// The path of a value: `["apps", "demo", "topic"]`. The parts are separate, because app names may contain dots.
struct SettingPath: Hashable, CustomStringConvertible {
    let parts: [String]

    init(_ parts: String...) { self.parts = parts }
    init(parts: [String]) { self.parts = parts }

    func appending(_ part: String) -> SettingPath { SettingPath(parts: parts + [part]) }

    func starts(with other: SettingPath) -> Bool { parts.starts(with: other.parts) }

    var description: String { parts.joined(separator: ".") }
}

/// The text of one configuration value, as the user wrote it.
struct Setting: Equatable {
    let text: String
    /// True if the value was in quotes. Such a value is text, even if it consists of digits.
    var isQuoted = false
    let source: ConfigurationError.Source
}

/// The values of one layer (file, environment or flags), or of several merged layers.
struct Settings {
    private(set) var values: [SettingPath: Setting] = [:]
    /// The source where each group begins. An error about a missing value shows the source of the group that should contain the
    /// value.
    private(set) var groups: [SettingPath: ConfigurationError.Source] = [:]

    subscript(path: SettingPath) -> Setting? { values[path] }

    mutating func set(_ path: SettingPath, to setting: Setting) {
        values[path] = setting
        for count in 1..<max(path.parts.count, 1) {
            let group = SettingPath(parts: Array(path.parts.prefix(count)))
            if groups[group] == nil { groups[group] = setting.source }
        }
    }

    mutating func open(_ group: SettingPath, at source: ConfigurationError.Source) {
        if groups[group] == nil { groups[group] = source }
    }

    /// Names of the groups right below `path`, sorted.
    func names(below path: SettingPath) -> [String] {
        let depth = path.parts.count
        return Set(
            groups.keys.filter { $0.parts.count == depth + 1 && $0.starts(with: path) }.map {
                $0.parts[depth]
            }
        )
        .sorted()
    }

    /// Merges `layer` into these settings: the values of `layer` win. If `layer` has a certificate and no key for an app, drops
    /// the app's key from these settings. If `layer` has a key and no certificate, drops the app's certificate.
    ///
    /// If `layer` has a Redis address, drops the password file and the CA file of these settings. So the program never sends the
    /// password of a lower layer to an address from a higher layer.
    mutating func lay(over layer: Settings) {
        if layer.values[Schema.redis] != nil { for key in Schema.ofRedis { values[key] = nil } }
        for name in layer.names(below: Schema.apps) {
            let app = Schema.apps.appending(name)
            for (kind, other) in [("key", "certificate"), ("certificate", "key")] {
                if layer.groups[app.appending(kind)] != nil, layer.groups[app.appending(other)] == nil {
                    remove(below: app.appending(other))
                }
            }
        }
        values.merge(layer.values) { $1 }
        groups.merge(layer.groups) { old, _ in old }
    }

    private mutating func remove(below path: SettingPath) {
        values = values.filter { !$0.key.starts(with: path) }
        groups = groups.filter { !$0.key.starts(with: path) }
    }
}
