import PushModel
import Yams

/// Reads the settings of a YAML or JSON text. Each setting has the number of its line.
struct FileLayer {
    /// The file's path as the user gave it, for error messages.
    let file: String
    /// The keys of the file.
    var shape = Schema.file
    /// The file that shows all keys, if it is not deploy/pushfarm.yaml.
    var sample: String?

    func read(_ text: String) throws(ConfigurationError) -> Settings {
        let root: Node?
        do {
            root = try compose(yaml: text)
        } catch let error as YamlError {
            throw syntaxError(error)
        } catch {
            throw ConfigurationError(
                source: nil, key: nil, problem: .syntax("\(file): cannot be read as YAML"))
        }
        var settings = Settings()
        if let root, !isNothing(root) { try read(root, as: shape, at: SettingPath(), into: &settings) }
        return settings
    }

    private func read(
        _ node: Node, as shape: Shape, at path: SettingPath, into settings: inout Settings
    ) throws(ConfigurationError) {
        switch shape {
        case .value:
            guard case .scalar(let scalar) = node else { throw wrongType(node, "a plain value", path) }
            if isNothing(node) { throw wrongType(node, "a value", path) }
            let isQuoted = scalar.style != .plain && scalar.style != .any
            settings.set(path, to: Setting(text: scalar.string, isQuoted: isQuoted, source: source(of: node)))
        case .list: try readList(node, at: path, into: &settings)
        case .group(let entries):
            if isNothing(node), !path.parts.isEmpty { throw wrongType(node, groupHint(entries), path) }
            guard case .mapping(let mapping) = node else { throw wrongType(node, groupHint(entries), path) }
            settings.open(path, at: source(of: node))
            for (key, value) in mapping {
                let name = try name(of: key, at: path)
                guard let entry = entries.first(where: { $0.key == name }) else {
                    let nearest = NearestWord.find(name, among: entries.map(\.key))
                    throw ConfigurationError(
                        source: source(of: key), key: path.appending(name).description,
                        problem: problem(ofUnknownKey: nearest))
                }
                switch entry.shape {
                case .value, .list: break
                case .group, .named: settings.open(path.appending(name), at: source(of: key))
                }
                try read(value, as: entry.shape, at: path.appending(name), into: &settings)
            }
        case .named(let inner):
            if isNothing(node) { return }
            guard case .mapping(let mapping) = node else {
                throw wrongType(node, "names with their keys", path)
            }
            for (key, value) in mapping {
                let name = try name(of: key, at: path)
                settings.open(path.appending(name), at: source(of: key))
                try read(value, as: inner, at: path.appending(name), into: &settings)
            }
        }
    }

    private func problem(ofUnknownKey nearest: String?) -> ConfigurationError.Problem {
        guard nearest == nil, let sample else { return .unknownKey(nearest: nearest) }
        return .invalid("unknown key; \(sample) shows all keys")
    }

    /// Joins the values of a list into one text, separated by spaces.
    private func readList(
        _ node: Node, at path: SettingPath, into settings: inout Settings
    ) throws(ConfigurationError) {
        guard case .sequence(let sequence) = node else {
            return try read(node, as: .value, at: path, into: &settings)
        }
        var values: [String] = []
        for value in sequence {
            guard case .scalar(let scalar) = value, !isNothing(value) else {
                throw wrongType(value, "a list of plain values", path)
            }
            values.append(scalar.string)
        }
        guard !values.isEmpty else { return }
        settings.set(path, to: Setting(text: values.joined(separator: " "), source: source(of: node)))
    }

    private func name(of key: Node, at path: SettingPath) throws(ConfigurationError) -> String {
        guard case .scalar(let scalar) = key else { throw wrongType(key, "a key", path) }
        return scalar.string
    }

    /// Whether the node is YAML's null: empty, `~` or `null` without quotes.
    private func isNothing(_ node: Node) -> Bool {
        guard case .scalar(let scalar) = node, scalar.style == .plain || scalar.style == .any else {
            return false
        }
        return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
    }

    private func groupHint(_ entries: [(key: String, shape: Shape)]) -> String {
        "keys (" + entries.map(\.key).joined(separator: ", ") + ")"
    }

    private func wrongType(_ node: Node, _ expected: String, _ path: SettingPath) -> ConfigurationError {
        let found =
            switch node {
            case .mapping: "a group of keys"
            case .sequence: "a list"
            case .alias: "an alias"
            case .scalar: isNothing(node) ? "nothing" : "a plain value"
            }
        return ConfigurationError(
            source: source(of: node), key: path.parts.isEmpty ? nil : path.description,
            problem: .wrongType(expected: expected, found: found))
    }

    private func source(of node: Node) -> ConfigurationError.Source {
        .file(file, line: node.mark?.line ?? 1)
    }

    /// Makes an error with the reason and the line of a syntax error. The message of Yams is not used, because it also quotes the
    /// text of the file, which may contain a secret.
    private func syntaxError(_ error: YamlError) -> ConfigurationError {
        func at(_ line: Int, _ reason: String, _ key: String? = nil) -> ConfigurationError {
            ConfigurationError(source: .file(file, line: max(line, 1)), key: key, problem: .syntax(reason))
        }
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return at(mark.line, "not valid YAML: \(problem)")
        case .reader(let problem, _, _, _):
            return at(1, "not valid YAML: \(problem)")
        case .duplicatedKeysInMapping(let duplicates, let context):
            return at(context.mark.line, "the key is there twice", duplicates.sorted().first)
        default:
            return at(1, "not valid YAML")
        }
    }
}
