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

    func text(_ name: String) -> String { value(name) ?? "" }

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

    /// Of a process that may not be there.
    var pid: Int? {
        let pid: Int = number("pid")
        return pid > 0 ? pid : nil
    }
}
