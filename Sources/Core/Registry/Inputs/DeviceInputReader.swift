import PushModel

/// Reads the JSON of a device input from start to end, and checks each value as it is read.
struct DeviceInputReader {
    private var values: DeviceValueReader
    private let rules: DeviceInputRules
    private var positions = FieldValues<Int>()
    /// The address whose fields are in the same object as `id`.
    private var address = DeviceAddressDraft()
    /// The offset of an empty `addresses`.
    private var isEmptyAt: Int?
    /// The offset of the outer object.
    private var start = 0

    private(set) var id: String?
    private(set) var addresses: [DeviceAddress] = []
    private var texts = FieldValues<String>()
    private var tags = FieldValues<[String]>()
    /// Times in Unix seconds.
    private var times = FieldValues<Int64>()
    /// For each address, its field `since`.
    private(set) var since: [Int64?] = []
    /// The address of the field `invalid`.
    private(set) var invalid: DeviceAddress?

    init(_ bytes: UnsafeRawBufferPointer, rules: DeviceInputRules) {
        (values, self.rules) = (DeviceValueReader(bytes, rules: rules), rules)
    }

    /// Whether the input has the field.
    func has(_ field: DeviceField) -> Bool { positions[field] != nil }

    func text(_ field: DeviceField) -> String? { texts[field] }
    func tags(_ field: DeviceField) -> [String] { tags[field] ?? [] }
    /// The time of a field in Unix seconds.
    func time(_ field: DeviceField) -> Int64? { times[field] }

    /// Reads the whole input.
    mutating func read() throws(DeviceInputError) {
        try values.scan { (scanner) throws(JSONError) in try scanner.start() }
        start = values.position
        let kind = try values.kind()
        guard kind == .object else {
            throw values.error("a device input must be a JSON object; this is \(kind.rawValue)", at: start)
        }
        try values.scan { (scanner) throws(JSONError) in try scanner.enterObject() }
        while let field = try nextField(among: DeviceField.allCases, in: "") {
            guard positions.add(values.position, of: field) else {
                throw values.error("\"\(field.rawValue)\" is given twice", at: values.position)
            }
            try readValue(of: field)
        }
        try values.scan { (scanner) throws(JSONError) in try scanner.end() }
        if has(.token), !has(.addresses) { try append(address, "", at: start) }
    }

    private mutating func readValue(of field: DeviceField) throws(DeviceInputError) {
        switch field {
        case .id: id = try values.id()
        case .user, .forgetUser: _ = texts.add(try values.user(), of: field)
        case .registered, .at: _ = times.add(try values.time(), of: field)
        case .seen: _ = times.add(try values.day(), of: field)
        case .invalid: try readInvalid()
        case .token, .service, .environment, .kind, .since:
            var address = address
            try readAddressField(field, &address)
            self.address = address
        case .addresses: try readAddresses()
        case .tags, .addTags, .removeTags: _ = tags.add(try values.tags(), of: field)
        case .zone: _ = texts.add(try values.zone(), of: field)
        case .lang: _ = texts.add(try values.language(), of: field)
        case .platform: _ = texts.add(try values.platform(), of: field)
        case .app, .os, .model: _ = texts.add(try values.version(), of: field)
        case .reachability: _ = texts.add(try values.reachability(), of: field)
        case .network: _ = texts.add(try values.network(), of: field)
        case .remove: try values.readTrue()
        }
    }

    /// Moves to the value of the object's next member. Nil at the end of the object.
    private mutating func nextField(
        among fields: [DeviceField], in prefix: String
    ) throws(DeviceInputError) -> DeviceField? {
        values.path = prefix.isEmpty ? DeviceValueReader.whole : prefix
        let key = try values.scan { (scanner) throws(JSONError) in try scanner.nextKey() }
        guard let key else { return nil }
        let name = values.scanner.text(key)
        let dot = prefix.isEmpty ? "" : prefix + "."
        guard let field = DeviceField(rawValue: name), fields.contains(field) else {
            let shown = Excerpt.of(name)
            if !shown.isEmpty { values.path = dot + shown }
            throw values.error(
                "there is no field \"\(dot + shown)\"; \(DeviceField.advice(for: shown, among: fields))",
                at: key.content.lowerBound - 1)
        }
        values.path = dot + name
        return field
    }

    /// The error for a field of the outer object, at the field's value.
    func error(_ field: DeviceField, _ reason: String) -> DeviceInputError {
        DeviceInputError(
            field: field.rawValue, position: positions[field] ?? start, reason: reason, device: id)
    }
}

// MARK: Addresses

extension DeviceInputReader {
    private mutating func readAddresses() throws(DeviceInputError) {
        let position = values.position
        let field = DeviceField.addresses.rawValue
        guard try values.kind() == .array else {
            throw try values.wrong("an array of objects such as {\"token\": \"…\"}")
        }
        try values.scan { (scanner) throws(JSONError) in try scanner.enterArray() }
        var count = 0
        while try values.scan({ (scanner) throws(JSONError) in try scanner.nextElement() }) {
            guard count < DeviceLimits.addresses else {
                values.path = field
                throw values.error(
                    "a device may have at most \(DeviceLimits.addresses) addresses", at: values.position)
            }
            try readAddress("\(field)[\(count)]")
            count += 1
        }
        values.path = field
        isEmptyAt = count == 0 ? position : nil
    }

    /// Checks that only a device with the field `registered` has no address.
    func checkAddresses() throws(DeviceInputError) {
        guard let position = isEmptyAt, !has(.registered) else { return }
        throw DeviceInputError(
            field: DeviceField.addresses.rawValue, position: position,
            reason:
                "\"addresses\" is empty; a device needs at least one; to remove it, send \"remove\": true",
            device: id)
    }

    /// Reads a token that the gateway refused, in the app's environment.
    private mutating func readInvalid() throws(DeviceInputError) {
        let position = values.position
        let text = try values.text(mustBe: "a string of hex digits")
        do throws(DeviceToken.Fault) {
            invalid = try DeviceAddressDraft().address(text, defaultEnvironment: rules.environment)
        } catch {
            throw values.error("\"\(values.path)\" is wrong: \(error.description)", at: position)
        }
    }

    private mutating func readAddress(_ prefix: String) throws(DeviceInputError) {
        values.path = prefix
        guard try values.kind() == .object else {
            throw try values.wrong("an object such as {\"token\": \"…\"}")
        }
        let start = values.position
        var address = DeviceAddressDraft()
        try values.scan { (scanner) throws(JSONError) in try scanner.enterObject() }
        var seen: Set<DeviceField> = []
        while let field = try nextField(among: DeviceField.ofAddress, in: prefix) {
            guard seen.insert(field).inserted else {
                throw values.error("\"\(values.path)\" is given twice", at: values.position)
            }
            try readAddressField(field, &address)
        }
        try append(address, prefix, at: start)
    }

    private mutating func readAddressField(
        _ field: DeviceField, _ address: inout DeviceAddressDraft
    ) throws(DeviceInputError) {
        switch field {
        case .service: address.service = try values.word()
        case .environment: address.environment = try values.word()
        case .kind: address.kind = try values.word()
        case .since: address.since = try values.time()
        default:
            let position = values.position
            address.token = (try values.text(mustBe: "a string of hex digits"), position)
        }
    }

    /// Adds an address whose fields have been read.
    ///
    /// - Parameters:
    ///   - prefix: the name of the address, such as `addresses[2]`; empty if its fields are in the same object as `id`.
    ///   - start: the offset of the object with the fields.
    private mutating func append(
        _ draft: DeviceAddressDraft, _ prefix: String, at start: Int
    ) throws(DeviceInputError) {
        values.path = prefix.isEmpty ? DeviceField.token.rawValue : prefix + ".token"
        guard let (text, position) = draft.token else {
            throw values.error("\"\(values.path)\" is missing", at: start)
        }
        let address: DeviceAddress
        do throws(DeviceToken.Fault) {
            address = try draft.address(text, defaultEnvironment: rules.environment)
        } catch {
            throw values.error("\"\(values.path)\" is wrong: \(error.description)", at: position)
        }
        guard !addresses.contains(where: { $0.identity == address.identity }) else {
            throw values.error(
                "\"\(values.path)\" is the token of an earlier address of this device", at: position)
        }
        addresses.append(address)
        since.append(draft.since)
    }
}

// MARK: Values

/// The values of some fields of a device input.
///
/// An input has few fields. So a search through an array is faster than a dictionary, which hashes the fields' names.
private struct FieldValues<Value> {
    private var all: [(field: DeviceField, value: Value)] = []

    /// The value of a field; nil if it has none.
    subscript(field: DeviceField) -> Value? {
        for (other, value) in all where other == field { return value }
        return nil
    }

    /// Adds the value of a field that has none.
    ///
    /// - Returns: false, and changes nothing, if the field has a value.
    mutating func add(_ value: Value, of field: DeviceField) -> Bool {
        guard self[field] == nil else { return false }
        all.append((field, value))
        return true
    }
}
