/// Reads typed values from the settings. Every error names the source and the key.
struct SettingReader {
    let settings: Settings
    /// The folder for relative paths in the environment and in flags.
    let workingDirectory: String
    let environment: [String: String]
    let purpose: Configuration.Purpose

    /// The variable that names systemd's folder of LoadCredential= files.
    private static let credentialsVariable = "CREDENTIALS_DIRECTORY"

    func text(_ path: SettingPath) throws(ConfigurationError) -> String? {
        guard let setting = settings[path] else { return nil }
        guard !setting.text.isEmpty else { throw invalid(path, "is empty") }
        guard !setting.text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            throw invalid(path, "contains a control character")
        }
        return setting.text
    }

    /// Reads a path and makes it absolute. A relative path in the configuration file is relative to the folder of the
    /// configuration file. A path that starts with `${CREDENTIALS_DIRECTORY}/` is relative to the folder of that variable.
    func file(_ path: SettingPath) throws(ConfigurationError) -> String? {
        guard let text = try text(path) else { return nil }
        let variable = "${\(Self.credentialsVariable)}/"
        guard text.hasPrefix(variable) else { return FilePathText.resolve(text, in: folder(of: path)) }
        // A command that only uses Redis does not run as the systemd service, so the variable may be missing. This is no error
        // here, because the command does not read the files in the service's credentials folder.
        return FilePathText.resolve(
            String(text.dropFirst(variable.count)), in: environment[Self.credentialsVariable] ?? variable)
    }

    /// Reads a path like ``file(_:)``. A coordinator must be able to read the file.
    func readableFile(_ path: SettingPath) throws(ConfigurationError) -> String? {
        guard let file = try file(path) else { return nil }
        if purpose == .coordinator, let reason = whyUnreadable(file) { throw invalid(path, reason) }
        return file
    }

    /// Reads a password from the first line of a file.
    func secret(_ path: SettingPath, file: String) throws(ConfigurationError) -> Password {
        let text: String
        do throws(InvalidValue) {
            if let reason = whyUnreadable(file) { throw InvalidValue(reason) }
            text = try ConfigurationFile.read(file)
        } catch {
            throw invalid(path, error.reason)
        }
        let line = text.prefix { !$0.isNewline }
        guard !line.isEmpty else { throw invalid(path, "\(file): its first line is empty") }
        return Password(String(line))
    }

    private func whyUnreadable(_ file: String) -> String? {
        guard file.hasPrefix("${") else { return ConfigurationFile.whyUnreadable(file) }
        return
            "\(file): \(Self.credentialsVariable) is not set; systemd sets it for a service with LoadCredential="
    }

    func value<Value>(_ path: SettingPath, _ type: ValueType<Value>) throws(ConfigurationError) -> Value? {
        try type.read(self, path)
    }

    func value<Value>(
        _ path: SettingPath, _ parse: (_ text: String, _ folder: String) throws(InvalidValue) -> Value
    ) throws(ConfigurationError) -> Value? {
        guard let text = try text(path) else { return nil }
        do {
            return try parse(text, folder(of: path))
        } catch {
            throw invalid(path, error.reason)
        }
    }

    func invalid(_ path: SettingPath, _ reason: String) -> ConfigurationError {
        ConfigurationError(source: source(of: path), key: path.description, problem: .invalid(reason))
    }

    func missing(_ path: SettingPath, _ reason: String) -> ConfigurationError {
        ConfigurationError(source: source(of: path), key: path.description, problem: .missing(reason))
    }

    func wrongType(_ path: SettingPath, _ expected: String) -> ConfigurationError {
        ConfigurationError(
            source: source(of: path), key: path.description,
            problem: .wrongType(expected: expected, found: settings[path].map(Self.shown) ?? "nothing"))
    }

    private static func shown(_ setting: Setting) -> String {
        let text = setting.text.count > 40 ? String(setting.text.prefix(40)) + "…" : setting.text
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isNumber && !setting.isQuoted ? text : "text \"\(text)\""
    }

    /// The source of the value. If the value is missing, the source of the innermost group that contains the key.
    private func source(of path: SettingPath) -> ConfigurationError.Source? {
        if let setting = settings[path] { return setting.source }
        var parts = path.parts
        while !parts.isEmpty {
            if let source = settings.groups[SettingPath(parts: parts)] { return source }
            parts.removeLast()
        }
        return settings.groups[SettingPath()]
    }

    private func folder(of path: SettingPath) -> String {
        guard case .file(let file, _) = settings[path]?.source else { return workingDirectory }
        return FilePathText.resolve(FilePathText.folder(of: file), in: workingDirectory)
    }
}
