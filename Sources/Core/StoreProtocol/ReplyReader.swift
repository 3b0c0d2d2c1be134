import RedisProtocol

/// Reads the parts of an array reply in turn; a missing or different part is an error that names the step.
struct ReplyReader {
    private let step: String
    private let values: [RESPValue]
    private var index = 0

    init(_ value: RESPValue, _ step: String) throws(StoreError) {
        guard let values = value.array else { throw .unexpectedReply(step) }
        self.step = step
        self.values = values
    }

    /// The entries of a stream: each has names and values in turns.
    static func entries(
        _ value: RESPValue, _ step: String
    ) throws(StoreError) -> [(id: EntryID, words: RESPValue)] {
        guard let entries = value.array else { throw .unexpectedReply(step) }
        return try entries.map { entry throws(StoreError) in
            guard let parts = entry.array, parts.count == 2, let id = parts[0].bytes else {
                throw .unexpectedReply("\(step), an entry")
            }
            return (EntryID(id), parts[1])
        }
    }

    var isAtEnd: Bool { index >= values.count }

    mutating func next() throws(StoreError) -> RESPValue {
        guard index < values.count else { throw .unexpectedReply("\(step), short") }
        defer { index += 1 }
        return values[index]
    }

    mutating func integer() throws(StoreError) -> Int {
        guard let integer = try next().integer else { throw wrong("an integer") }
        return Int(integer)
    }

    mutating func bytes() throws(StoreError) -> [UInt8] {
        guard let bytes = try next().bytes else { throw wrong("a string") }
        return bytes
    }

    mutating func text() throws(StoreError) -> String {
        String(decoding: try bytes(), as: UTF8.self)
    }

    mutating func shards() throws(StoreError) -> [Int] {
        var reader = try ReplyReader(next(), step)
        return try reader.remainingShards()
    }

    mutating func texts() throws(StoreError) -> [String] {
        var reader = try ReplyReader(next(), step)
        return try reader.remainingTexts()
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
        .unexpectedReply("\(step), part \(index) is not \(expected)")
    }
}
