/// The shape of a part of the configuration file.
indirect enum Shape {
    case value
    /// Several plain values. A variable or a flag contains the values as one text, separated by spaces.
    case list
    /// A group with fixed keys.
    case group([(key: String, shape: Shape)])
    /// A group with free names. All values of the group have the same shape.
    case named(Shape)

    /// Builds the group of the given keys, in their order.
    init(grouping keys: [(parts: ArraySlice<String>, isList: Bool)]) {
        var entries: [(key: String, shape: Shape)] = []
        for key in keys {
            guard let name = key.parts.first, !entries.contains(where: { $0.key == name }) else { continue }
            let below = keys.filter { $0.parts.first == name }.map { ($0.parts.dropFirst(), $0.isList) }
            let plain: Shape = key.isList ? .list : .value
            entries.append((name, key.parts.count == 1 ? plain : Shape(grouping: below)))
        }
        self = .group(entries)
    }
}

/// All keys of the configuration. The names of settings in the file, the environment and flags are checked against
/// these keys.
enum Schema {
    static let apps = SettingPath("apps")
    static let redis = SettingPath("redis")
    /// The keys that belong to the Redis address.
    static let ofRedis = [SettingPath("redis_ca_file"), SettingPath("redis_password_file")]

    /// The paths of all keys outside `apps`.
    static var paths: [SettingPath] { Configuration.keys.map(\.path) }
    static var appPaths: [SettingPath] { appKeys.map(\.path) }

    static var file: Shape {
        guard
            case .group(let entries) = Shape(grouping: Configuration.keys.map { ($0.path.parts[...], false) })
        else { return .value }
        let app = Shape(grouping: appKeys.map { ($0.path.parts[...], $0.isList) })
        return .group(entries + [("apps", .named(app))])
    }

    private static var appKeys: [(path: SettingPath, isList: Bool)] {
        AppConfiguration.allKeys.map { ($0.path, $0.isList) } + BinaryGateway.keys.map { ($0.path, false) }
    }
}
