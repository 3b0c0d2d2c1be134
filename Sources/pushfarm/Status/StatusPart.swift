/// A part of a host's status. ``fields`` describes how the part is read and written.
protocol StatusPart: Decodable, Sendable {
    init()

    /// The fields in the order in which they are written.
    static var fields: [StatusField<Self>] { get }
}

extension StatusPart {
    /// - Throws: an error when the value is not an object.
    init(from decoder: any Decoder) throws {
        let object = try LenientFields(decoder)
        self.init()
        for field in Self.fields { field.read(object, &self) }
    }

    var json: JSONValue { .object(Self.fields.map { .init(name: $0.name, value: $0.json(self)) }) }
}

/// A field of a host's status, with its reader and its writer.
struct StatusField<Part> {
    let name: String
    let read: (LenientFields, inout Part) -> Void
    let json: (Part) -> JSONValue

    private init<Value>(
        _ name: String, _ path: WritableKeyPath<Part, Value>, read: @escaping (LenientFields) -> Value,
        json: @escaping (Value) -> JSONValue
    ) {
        self.name = name
        self.read = { $1[keyPath: path] = read($0) }
        self.json = { json($0[keyPath: path]) }
    }

    static func text(_ name: String, _ path: WritableKeyPath<Part, String>) -> StatusField {
        StatusField(name, path, read: { $0.value(name) ?? "" }, json: { .string($0) })
    }

    static func flag(_ name: String, _ path: WritableKeyPath<Part, Bool>) -> StatusField {
        StatusField(name, path, read: { $0.value(name) ?? false }, json: { .bool($0) })
    }

    static func number<Number: FixedWidthInteger>(
        _ name: String, _ path: WritableKeyPath<Part, Number>
    ) -> StatusField {
        StatusField(name, path, read: { $0.number(name) }, json: { .number(Int64(clamping: $0)) })
    }

    /// Several fields of numbers.
    static func numbers(_ paths: KeyValuePairs<String, WritableKeyPath<Part, Int>>) -> [StatusField] {
        paths.map { number($0.key, $0.value) }
    }

    /// A field of milliseconds that may be unknown.
    static func time(_ name: String, _ path: WritableKeyPath<Part, Int?>) -> StatusField {
        StatusField(name, path, read: { $0.value(name) }, json: { .whole($0) })
    }

    /// A field for a process id that may be missing.
    static func pid(_ path: WritableKeyPath<Part, Int?>) -> StatusField {
        func read(_ object: LenientFields) -> Int? {
            let pid: Int = object.number("pid")
            return pid > 0 ? pid : nil
        }
        return StatusField("pid", path, read: read, json: { .whole($0) })
    }

    static func part<Other: StatusPart>(
        _ name: String, _ path: WritableKeyPath<Part, Other?>
    ) -> StatusField {
        StatusField(name, path, read: { $0.value(name) }, json: { $0?.json ?? .null })
    }

    static func parts<Other: StatusPart>(
        _ name: String, _ path: WritableKeyPath<Part, [Other]>
    ) -> StatusField {
        StatusField(name, path, read: { $0.list(name) }, json: { .array($0.map(\.json)) })
    }

    static func texts(_ name: String, _ path: WritableKeyPath<Part, [String]>) -> StatusField {
        StatusField(name, path, read: { $0.list(name) }, json: { .array($0.map { .string($0) }) })
    }
}

/// The fields of an object that another version of the program may have written. A field that is missing or has another type
/// is read as 0 or empty.
struct LenientFields {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private let fields: KeyedDecodingContainer<Name>

    /// - Throws: an error when the value is not an object.
    init(_ decoder: any Decoder) throws { fields = try decoder.container(keyedBy: Name.self) }

    /// The field's value, or nil when it is unreadable for any reason.
    func value<Value: Decodable>(_ name: String, as _: Value.Type = Value.self) -> Value? {
        try? fields.decode(Value.self, forKey: Name(stringValue: name))
    }

    /// A list of at most 1,024 elements, so that sums over it cannot overflow.
    func list<Element: Decodable>(_ name: String) -> [Element] {
        let all: [Element] = value(name) ?? []
        return Array(all.prefix(1_024))
    }

    /// The number, rounded, or 0 when it exceeds `WholeNumber.limit`.
    func number<Number: FixedWidthInteger>(_ name: String) -> Number {
        value(name, as: Double.self).flatMap { number in
            Int64(exactly: number.rounded()).flatMap { $0 == Int64(foreign: $0) ? Number(exactly: $0) : nil }
        } ?? 0
    }
}
