import PushModel

/// Reads typed values out of settings. Every error names the place and the key.
struct SettingReader {
    let settings: Settings
    /// The base of relative paths in the environment and in flags.
    let workingDirectory: String
    /// The folder with the credentials of systemd's LoadCredential=.
    var credentialsDirectory: String?

    static let credentialsVariable = "CREDENTIALS_DIRECTORY"

    func text(_ path: SettingPath) throws(ConfigurationError) -> String? {
        guard let setting = settings[path] else { return nil }
        guard !setting.text.isEmpty else { throw invalid(path, "is empty") }
        guard !setting.text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7F }) else {
            throw invalid(path, "holds a control character")
        }
        return setting.text
    }

    func number(_ path: SettingPath, in range: ClosedRange<Int>) throws(ConfigurationError) -> Int? {
        guard let setting = settings[path] else { return nil }
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        let digits = setting.text.utf8.filter { $0 != UInt8(ascii: "_") }
        let isPlain = !digits.isEmpty && digits.allSatisfy { (0x30...0x39).contains($0) }
        guard !setting.isQuoted, isPlain else { throw wrongType(path, expected) }
        guard let number = Int(foreign: String(decoding: digits, as: UTF8.self)), range.contains(number)
        else {
            throw wrongType(path, expected)
        }
        return number
    }

    /// Reads a whole number into `value`, which keeps its default when there is none.
    func read(
        _ path: SettingPath, in range: ClosedRange<Int>, into value: inout Int
    ) throws(ConfigurationError) {
        value = try number(path, in: range) ?? value
    }

    /// Reads a duration into `value`, which keeps its default when there is none.
    func read(
        _ path: SettingPath, upTo longest: Int, into value: inout Duration
    ) throws(ConfigurationError) {
        value = try duration(path, upTo: longest) ?? value
    }

    /// A whole number of units, or a duration that is one: 72, 72h or 3d where hours are counted.
    ///
    /// - Parameter unit: its milliseconds.
    func number(
        _ path: SettingPath, in range: ClosedRange<Int>, unit: Int64
    ) throws(ConfigurationError) -> Int? {
        guard let setting = settings[path], let time = TimeText.duration(setting.text) else {
            return try number(path, in: range)
        }
        let (count, rest) = time.quotientAndRemainder(dividingBy: unit)
        guard rest == 0, let count = Int(exactly: count), range.contains(count) else {
            throw wrongType(path, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return count
    }

    /// Seconds, whole or decimal, or a duration with units, such as 1m30s.
    func duration(_ path: SettingPath, upTo longest: Int) throws(ConfigurationError) -> Duration? {
        guard let setting = settings[path] else { return nil }
        let isPlain = setting.text.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
        let time = isPlain && !setting.isQuoted ? setting.text + "s" : setting.text
        guard let milliseconds = TimeText.duration(time), milliseconds >= 1,
            milliseconds <= Int64(longest) * 1000
        else {
            throw wrongType(
                path, "seconds or a duration such as 90s, more than 0 and at most \(longest) seconds")
        }
        return .milliseconds(milliseconds)
    }

    func choice<Choice: RawRepresentable<String> & CaseIterable>(
        _ path: SettingPath, as type: Choice.Type
    ) throws(ConfigurationError) -> Choice? {
        guard let setting = settings[path] else { return nil }
        guard let choice = Choice(rawValue: setting.text) else {
            throw wrongType(path, "one of " + Choice.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return choice
    }

    /// An absolute path. In a file it is relative to the file's folder; behind `${CREDENTIALS_DIRECTORY}/`, to that folder.
    func file(_ path: SettingPath) throws(ConfigurationError) -> String? {
        guard let text = try text(path) else { return nil }
        let variable = "${\(Self.credentialsVariable)}/"
        guard text.hasPrefix(variable) else { return FilePathText.resolve(text, in: folder(of: path)) }
        // A command that only uses Redis is not the service, and does not need its files.
        return FilePathText.resolve(
            String(text.dropFirst(variable.count)), in: credentialsDirectory ?? variable)
    }

    /// Why a file cannot be read, for the user.
    func whyUnreadable(_ file: String) -> String? {
        guard file.hasPrefix("${") else { return FileText.whyUnreadable(file) }
        return
            "\(file): \(Self.credentialsVariable) is not set; systemd sets it for a service with LoadCredential="
    }

    /// A value with its own parser.
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
        ConfigurationError(place: place(of: path), key: path.description, problem: .invalid(reason))
    }

    func missing(_ path: SettingPath, _ reason: String) -> ConfigurationError {
        ConfigurationError(place: place(of: path), key: path.description, problem: .missing(reason))
    }

    /// The text of a small file.
    func contents(_ file: String) throws(InvalidValue) -> String {
        if let reason = whyUnreadable(file) { throw InvalidValue(reason) }
        return try FileText.read(file)
    }

    private func wrongType(_ path: SettingPath, _ expected: String) -> ConfigurationError {
        ConfigurationError(
            place: place(of: path), key: path.description,
            problem: .wrongType(expected: expected, found: settings[path].map(Self.shown) ?? "nothing"))
    }

    private static func shown(_ setting: Setting) -> String {
        let text = setting.text.count > 40 ? String(setting.text.prefix(40)) + "…" : setting.text
        let isNumber = !text.isEmpty && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        return isNumber && !setting.isQuoted ? text : "text \"\(text)\""
    }

    /// The place of the value, else of the nearest group around it.
    private func place(of path: SettingPath) -> ConfigurationError.Place? {
        if let setting = settings[path] { return setting.place }
        var parts = path.parts
        while !parts.isEmpty {
            if let place = settings.groups[SettingPath(parts: parts)] { return place }
            parts.removeLast()
        }
        return settings.groups[SettingPath()]
    }

    private func folder(of path: SettingPath) -> String {
        guard case .file(let file, _) = settings[path]?.place else { return workingDirectory }
        return FilePathText.resolve(FilePathText.folder(of: file), in: workingDirectory)
    }
}
