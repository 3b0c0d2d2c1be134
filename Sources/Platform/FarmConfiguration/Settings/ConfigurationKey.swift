import PushModel

/// One key of the configuration, with the code that reads its value.
struct ConfigurationKey<Target> {
    let path: SettingPath
    let isList: Bool
    private let take: (SettingReader, SettingPath, inout Target) throws(ConfigurationError) -> Void

    /// Creates a key whose value sets `property`. If the key has no value, the property keeps its default.
    ///
    /// - Parameter name: the dotted name, such as `log.level`.
    init<Value>(
        _ name: String, _ property: WritableKeyPath<Target, Value>, _ type: ValueType<Value>,
        isList: Bool = false
    ) {
        path = SettingPath(parts: name.split(separator: ".").map(String.init))
        self.isList = isList
        take = { reader, path, target throws(ConfigurationError) in
            if let value = try type.read(reader, path) { target[keyPath: property] = value }
        }
    }

    init<Value>(_ name: String, _ property: WritableKeyPath<Target, Value?>, _ type: ValueType<Value>) {
        path = SettingPath(parts: name.split(separator: ".").map(String.init))
        isList = false
        take = { reader, path, target throws(ConfigurationError) in
            if let value = try type.read(reader, path) { target[keyPath: property] = value }
        }
    }

    /// Creates a key whose value ``read(_:below:into:)`` ignores. Other code reads the value, because its meaning depends on
    /// other keys.
    init(_ name: String) {
        path = SettingPath(parts: name.split(separator: ".").map(String.init))
        isList = false
        take = { _, _, _ throws(ConfigurationError) in }
    }

    /// - Parameter group: the path of the group that contains the key, such as `apps.demo`; empty for a key of the whole farm.
    func read(
        _ reader: SettingReader, below group: SettingPath = SettingPath(), into target: inout Target
    ) throws(ConfigurationError) {
        try take(reader, SettingPath(parts: group.parts + path.parts), &target)
    }
}

/// Converts the text of a setting into a value.
struct ValueType<Value> {
    /// Reads the value; nil if the setting is missing.
    let read: (SettingReader, SettingPath) throws(ConfigurationError) -> Value?

    static func parsed(_ parse: @escaping (String) throws(InvalidValue) -> Value) -> Self {
        ValueType { reader, path throws(ConfigurationError) in
            try reader.value(path) { text, _ throws(InvalidValue) in try parse(text) }
        }
    }
}

extension ValueType<String> {
    static var text: Self { ValueType { reader, path throws(ConfigurationError) in try reader.text(path) } }
    static var file: Self { ValueType { reader, path throws(ConfigurationError) in try reader.file(path) } }
    /// The path of a file that a coordinator must be able to read.
    static var readableFile: Self {
        ValueType { reader, path throws(ConfigurationError) in try reader.readableFile(path) }
    }
}

extension ValueType where Value: RawRepresentable<String> & CaseIterable {
    static var choice: Self {
        ValueType { reader, path throws(ConfigurationError) in
            guard let setting = reader.settings[path] else { return nil }
            guard let choice = Value(rawValue: setting.text) else {
                let words = Value.allCases.map(\.rawValue).joined(separator: ", ")
                throw reader.wrongType(path, "one of " + words)
            }
            return choice
        }
    }
}

extension ValueType<Bool> {
    private enum Switch: String, CaseIterable {
        case `true`, `false`
    }

    static var flag: Self {
        ValueType { reader, path throws(ConfigurationError) in
            try ValueType<Switch>.choice.read(reader, path).map { $0 == .true }
        }
    }
}

extension ValueType<Int> {
    /// - Parameter word: a word that the caller allows instead of a number. This function only adds the word to its error
    ///   message.
    static func number(_ range: ClosedRange<Int>, or word: String? = nil) -> Self {
        ValueType { reader, path throws(ConfigurationError) in
            guard let setting = reader.settings[path] else { return nil }
            let digits = setting.text.utf8.filter { $0 != UInt8(ascii: "_") }
            let isPlain = !digits.isEmpty && digits.allSatisfy { (0x30...0x39).contains($0) }
            guard !setting.isQuoted, isPlain,
                let number = Int(foreign: String(decoding: digits, as: UTF8.self)), range.contains(number)
            else { throw reader.wrongType(path, expected(range) + (word.map { ", or \($0)" } ?? "")) }
            return number
        }
    }

    /// Reads a whole number of units, or a duration of whole units. If the unit is one hour, `72`, `72h` and `3d` mean the same.
    static func count(_ range: ClosedRange<Int>, of unit: TimeUnit) -> Self {
        ValueType { reader, path throws(ConfigurationError) in
            guard let setting = reader.settings[path], let time = TimeText.duration(setting.text) else {
                return try number(range).read(reader, path)
            }
            let (count, rest) = time.quotientAndRemainder(dividingBy: unit.rawValue)
            guard rest == 0, let count = Int(exactly: count), range.contains(count) else {
                throw reader.wrongType(path, expected(range))
            }
            return count
        }
    }

    private static func expected(_ range: ClosedRange<Int>) -> String {
        "a whole number from \(range.lowerBound) to \(range.upperBound)"
    }
}

/// The unit of a whole number. The raw value is the unit in milliseconds.
enum TimeUnit: Int64 {
    case seconds = 1000
    case hours = 3_600_000
    case days = 86_400_000
}

extension ValueType<Duration> {
    /// Reads whole or decimal seconds, or a duration with units, such as 1m30s.
    ///
    /// - Parameter least: the shortest allowed time, and the error message for a shorter time.
    static func duration(upTo longest: Int, least: (Duration, String)? = nil) -> Self {
        ValueType { reader, path throws(ConfigurationError) in
            guard let setting = reader.settings[path] else { return nil }
            let isPlain = setting.text.utf8.allSatisfy {
                (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".")
            }
            let time = isPlain && !setting.isQuoted ? setting.text + "s" : setting.text
            guard let milliseconds = TimeText.duration(time), milliseconds >= 1,
                milliseconds <= Int64(longest) * 1000
            else {
                throw reader.wrongType(
                    path, "seconds or a duration such as 90s, more than 0 and at most \(longest) seconds")
            }
            if let (shortest, reason) = least, .milliseconds(milliseconds) < shortest {
                throw reader.invalid(path, reason)
            }
            return .milliseconds(milliseconds)
        }
    }

    static func whole(_ range: ClosedRange<Int>, of unit: TimeUnit) -> Self {
        ValueType { reader, path throws(ConfigurationError) in
            try ValueType<Int>.count(range, of: unit).read(reader, path).map {
                .milliseconds(Int64($0) * unit.rawValue)
            }
        }
    }
}

extension ValueType<Double> {
    static func decimal(_ range: ClosedRange<Double>, _ what: String) -> Self {
        .parsed { text throws(InvalidValue) in
            guard let number = plainDecimal(text[...]), range.contains(number) else {
                throw InvalidValue(
                    "expected \(what), \(range.lowerBound) to \(Int(clamping: range.upperBound)), found \"\(text.prefix(40))\""
                )
            }
            return number
        }
    }

    static var bandwidth: Self {
        .parsed { text throws(InvalidValue) in
            let units: [Character: Double] = ["k": 1e3, "M": 1e6, "G": 1e9]
            let unit = text.last.flatMap { units[$0] }
            guard let number = plainDecimal(unit == nil ? text[...] : text.dropLast()),
                case let bits = number * (unit ?? 1), (1000...1e12).contains(bits)
            else {
                throw InvalidValue(
                    "expected bits a second from 1k to 1000G, such as 500k, 10M or 1G, found \"\(text.prefix(40))\""
                )
            }
            return bits
        }
    }

    /// Reads the random part of a backoff as a share: 0 to 1, or 0% to 100%.
    static var jitter: Self {
        .parsed { text throws(InvalidValue) in
            let isPercent = text.hasSuffix("%")
            guard let number = plainDecimal(isPercent ? text.dropLast() : text[...]),
                number <= (isPercent ? 100 : 1)
            else {
                throw InvalidValue("expected the random share of a pause, from 0 to 1 or from 0% to 100%")
            }
            return isPercent ? number / 100 : number
        }
    }
}

/// Reads digits with at most one decimal point. `Double(_:)` would accept other notations too.
func plainDecimal(_ text: Substring) -> Double? {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }) else { return nil }
    return Double(text)
}
