package import RedisProtocol

/// Reads the parts of an array reply in order. If a part is missing or has the wrong type, the thrown error names the request.
struct ReplyReader {
    private let request: Any.Type
    private let values: [RESPValue]
    private var index = 0

    init(_ value: RESPValue, _ request: Any.Type) throws(StoreError) {
        guard let values = value.array else { throw .unexpectedReply("\(request)") }
        self.request = request
        self.values = values
    }

    /// Reads the entries of a stream. Each entry is a list of alternating names and values.
    static func entries(
        _ value: RESPValue, _ request: Any.Type
    ) throws(StoreError) -> [(id: EntryID, words: RESPValue)] {
        guard let entries = value.array else { throw .unexpectedReply("\(request)") }
        return try entries.map { entry throws(StoreError) in
            guard let parts = entry.array, parts.count == 2, let id = parts[0].bytes else {
                throw .unexpectedReply("\(request), an entry")
            }
            return (EntryID(id), parts[1])
        }
    }

    var isAtEnd: Bool { index >= values.count }

    mutating func next() throws(StoreError) -> RESPValue {
        guard index < values.count else { throw .unexpectedReply("\(request), short") }
        defer { index += 1 }
        return values[index]
    }

    mutating func integer() throws(StoreError) -> Int {
        guard let integer = try next().integer else { throw wrong("an integer") }
        return Int(integer)
    }

    mutating func flag() throws(StoreError) -> Bool {
        try integer() == 1
    }

    /// Reads a number of milliseconds; returns nil if the number is negative.
    mutating func duration() throws(StoreError) -> Duration? {
        let milliseconds = try integer()
        return milliseconds < 0 ? nil : .milliseconds(milliseconds)
    }

    mutating func bytes() throws(StoreError) -> [UInt8] {
        guard let bytes = try next().bytes else { throw wrong("a string") }
        return bytes
    }

    mutating func text() throws(StoreError) -> String {
        String(decoding: try bytes(), as: UTF8.self)
    }

    mutating func part() throws(StoreError) -> ReplyReader {
        try ReplyReader(next(), request)
    }

    mutating func shards() throws(StoreError) -> [Int] {
        var part = try part()
        return try part.remainingShards()
    }

    mutating func texts() throws(StoreError) -> [String] {
        var part = try part()
        return try part.remainingTexts()
    }

    mutating func remainingTexts() throws(StoreError) -> [String] {
        var texts: [String] = []
        while !isAtEnd { texts.append(try text()) }
        return texts
    }

    mutating func remainingShards() throws(StoreError) -> [Int] {
        var shards: [Int] = []
        while !isAtEnd {
            guard let shard = Int(foreign: try text()) else { throw wrong("a shard") }
            shards.append(shard)
        }
        return shards
    }

    private func wrong(_ expected: String) -> StoreError {
        .unexpectedReply("\(request), part \(index) is not \(expected)")
    }
}

extension RESPValue {
    /// The time in a reply to TIME, in Unix milliseconds; nil for another reply.
    package var time: Int64? {
        let numbers = array?.compactMap { $0.text.flatMap { Int64(foreign: $0) } } ?? []
        return numbers.count == 2 ? numbers[0] * 1000 + numbers[1] / 1000 : nil
    }
}

/// The fields of a hash or of a stream entry, by name. For a field that is missing or is not a number, ``number(_:)`` returns 0.
struct ReplyFields {
    private var values: [String: RESPValue] = [:]

    /// Reads alternating names and values. If a name is repeated, the first value counts.
    init(pairs value: RESPValue) {
        values = Dictionary(value.pairs.map { ($0.name.text ?? "", $0.value) }) { first, _ in first }
    }

    /// Reads the reply to HMGET.
    init(_ value: RESPValue, _ names: [String], _ request: Any.Type) throws(StoreError) {
        guard let parts = value.array, parts.count == names.count else {
            throw .unexpectedReply("\(request)")
        }
        values = Dictionary(zip(names, parts)) { first, _ in first }
    }

    var isEmpty: Bool { values.isEmpty }

    func bytes(_ name: String) -> [UInt8]? { values[name]?.bytes }

    func text(_ name: String) -> String? { values[name]?.text }

    func integer(_ name: String) -> Int? { text(name).flatMap { Int(foreign: $0) } }

    func number(_ name: String) -> Int { integer(name) ?? 0 }

    func moment(_ name: String) -> Int64 { Int64(number(name)) }
}
