import PushModel

/// Reads and checks single values of a device input, and names the value's field in errors.
struct DeviceValueReader {
    private(set) var scanner: JSONScanner
    /// The field whose value is being read, such as `tags` or `addresses[2].token`.
    var path = DeviceValueReader.whole
    /// The device's id, if it was read.
    private(set) var device: String?
    private let rules: DeviceInputRules

    /// The name that an error uses in place of a field if it concerns the whole input.
    static let whole = "device"

    init(_ bytes: UnsafeRawBufferPointer, rules: DeviceInputRules) {
        (scanner, self.rules) = (JSONScanner(bytes), rules)
    }

    /// The offset of the next byte.
    var position: Int { scanner.position }

    mutating func id() throws(DeviceInputError) -> String {
        let id = try text(mustBe: DeviceText.idRule, DeviceText.isID)
        device = id
        return id
    }

    mutating func user() throws(DeviceInputError) -> String {
        try text(mustBe: DeviceText.idRule, DeviceText.isID)
    }

    mutating func version() throws(DeviceInputError) -> String {
        try text(mustBe: DeviceText.versionRule, DeviceText.isVersion)
    }

    mutating func platform() throws(DeviceInputError) -> String { try word(among: DeviceText.platforms) }

    mutating func reachability() throws(DeviceInputError) -> String {
        try word(among: DeviceText.reachabilities)
    }

    mutating func network() throws(DeviceInputError) -> String { try word(among: DeviceText.networks) }

    mutating func tags() throws(DeviceInputError) -> [String] {
        let field = path
        guard try kind() == .array else { throw try wrong("an array of strings") }
        try scan { (scanner) throws(JSONError) in try scanner.enterArray() }
        var tags: [String] = []
        while try scan({ (scanner) throws(JSONError) in try scanner.nextElement() }) {
            guard tags.count < DeviceInputRules.mostTags else {
                path = field
                throw error(
                    "\"\(field)\" may have at most \(DeviceInputRules.mostTags) tags", at: position)
            }
            path = "\(field)[\(tags.count)]"
            tags.append(try text(mustBe: DeviceText.tagRule, DeviceText.isTag))
        }
        path = field
        return tags
    }

    mutating func zone() throws(DeviceInputError) -> String {
        let position = position
        let zone = try text(mustBe: DeviceText.zoneRule, DeviceText.isZone)
        guard rules.hasZone(zone) else {
            throw error(
                "\"\(path)\" is \"\(Excerpt.of(zone))\", which is not a known time zone", at: position)
        }
        return zone
    }

    mutating func language() throws(DeviceInputError) -> String {
        let position = position
        let text = try text(mustBe: DeviceText.languageRule)
        guard let language = DeviceText.language(text) else {
            let hint = text.contains("_") ? "; use \"-\" instead of \"_\"" : ""
            throw error(
                "\"\(path)\" must be \(DeviceText.languageRule); this is \"\(Excerpt.of(text))\"\(hint)",
                at: position)
        }
        return language
    }

    /// Reads a time in Unix seconds.
    mutating func time() throws(DeviceInputError) -> Int64 {
        let rule = "a time in whole Unix seconds"
        guard try kind() == .number else { throw try wrong(rule) }
        let start = position
        guard let time = try? scanner.integer(), (0...JobLimits.lastSecond).contains(time) else {
            throw error("\"\(path)\" must be \(rule)", at: start)
        }
        return time
    }

    /// Reads a date such as `2026-11-24`, and returns its start in Unix seconds.
    mutating func day() throws(DeviceInputError) -> Int64 {
        let date = try text(mustBe: "a date such as \"2026-11-24\"") {
            $0.utf8.count == 10 && (TimeText.moment($0) ?? -1) >= 0
        }
        return (TimeText.moment(date) ?? 0) / 1000
    }

    /// Reads `true`.
    mutating func readTrue() throws(DeviceInputError) {
        guard try kind() == .boolean, scanner.bytes[position] == UInt8(ascii: "t") else {
            throw try wrong("true, or left out to keep the device")
        }
        try skipValue()
    }

    /// Reads a string, which must be one of `words`.
    private mutating func word(among words: [String]) throws(DeviceInputError) -> String {
        let position = position
        let word = try text(mustBe: Self.rule(words))
        guard words.contains(word) else {
            let rule = Self.rule(words)
            let nearest = NearestWord.find(word, among: words).map { "; did you mean \"\($0)\"?" } ?? ""
            throw error(
                "\"\(path)\" must be \(rule); this is \"\(Excerpt.of(word))\"\(nearest)", at: position)
        }
        return word
    }

    /// The phrase for a string that must be one of `words`.
    private static func rule(_ words: [String]) -> String {
        let quoted = words.map { "\"\($0)\"" }
        return quoted.count == 1
            ? quoted[0] : quoted.dropLast().joined(separator: ", ") + " or " + (quoted.last ?? "")
    }

    mutating func word<T: NamedDeviceWord>() throws(DeviceInputError) -> T {
        let word = try word(among: T.allCases.map(\.name))
        guard let value = T.allCases.first(where: { $0.name == word }) else {
            preconditionFailure("\(word) is a word of \(T.self)")
        }
        return value
    }

    /// Reads a string, which `isAllowed` must accept.
    mutating func text(
        mustBe rule: @autoclosure () -> String, _ isAllowed: (String) -> Bool = { _ in true }
    ) throws(DeviceInputError) -> String {
        guard try kind() == .string else { throw try wrong(rule()) }
        let position = position
        let string = try scan { (scanner) throws(JSONError) in try scanner.string() }
        let text = scanner.text(string)
        guard isAllowed(text) else {
            throw error("\"\(path)\" must be \(rule()); this is \"\(Excerpt.of(text))\"", at: position)
        }
        return text
    }

    mutating func kind() throws(DeviceInputError) -> JSONKind {
        try scan { (scanner) throws(JSONError) in try scanner.kind() }
    }

    private mutating func skipValue() throws(DeviceInputError) {
        try scan { (scanner) throws(JSONError) in _ = try scanner.skipValue() }
    }

    // MARK: Errors

    mutating func scan<Result>(
        _ step: (inout JSONScanner) throws(JSONError) -> Result
    ) throws(DeviceInputError) -> Result {
        do throws(JSONError) { return try step(&scanner) } catch {
            throw self.error("the input is not valid JSON: \(error.description)", at: error.position)
        }
    }

    /// The error for the value at the current position, whose JSON type is wrong.
    mutating func wrong(_ rule: String) throws(DeviceInputError) -> DeviceInputError {
        let kind = try kind()
        let position = position
        try skipValue()
        let hint = kind == .null ? "null; leave the field out if it is unknown" : kind.rawValue
        return error("\"\(path)\" must be \(rule); this is \(hint)", at: position)
    }

    func error(_ reason: String, at position: Int) -> DeviceInputError {
        DeviceInputError(field: path, position: position, reason: reason, device: device)
    }
}
