/// A part of what a coordinator writes about its host. Its list of fields reads and writes it.
protocol StatusPart: Decodable, Sendable {
    init()

    /// In the order in which they are written.
    static var fields: [StatusField<Self>] { get }
}

extension StatusPart {
    /// - Throws: when it is no object.
    init(from decoder: any Decoder) throws {
        let object = try LenientFields(decoder)
        self.init()
        for field in Self.fields { field.read(object, &self) }
    }

    var json: JSONValue { .object(Self.fields.map { .init(name: $0.name, value: $0.json(self)) }) }
}

/// A field of a part of a host's status: how it is read, and how it is written.
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

    /// Milliseconds that may not be known.
    static func time(_ name: String, _ path: WritableKeyPath<Part, Int?>) -> StatusField {
        StatusField(name, path, read: { $0.value(name) }, json: { .whole($0) })
    }

    /// The number of a process that may not be there.
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

/// The fields of an object that another version of the program may have written: what is missing, or of another kind, is 0
/// or empty.
struct LenientFields {
    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    private let fields: KeyedDecodingContainer<Name>

    /// - Throws: when it is no object.
    init(_ decoder: any Decoder) throws { fields = try decoder.container(keyedBy: Name.self) }

    /// Nil if it cannot be read, for whatever reason.
    func value<Value: Decodable>(_ name: String, as _: Value.Type = Value.self) -> Value? {
        try? fields.decode(Value.self, forKey: Name(stringValue: name))
    }

    /// At most 1,024: sums of them are far from overflowing.
    func list<Element: Decodable>(_ name: String) -> [Element] {
        let all: [Element] = value(name) ?? []
        return Array(all.prefix(1_024))
    }

    /// Rounded; 0 if it is beyond `ForeignNumber.limit`.
    func number<Number: FixedWidthInteger>(_ name: String) -> Number {
        value(name, as: Double.self).flatMap { number in
            Int64(exactly: number.rounded()).flatMap { $0 == Int64(foreign: $0) ? Number(exactly: $0) : nil }
        } ?? 0
    }
}
