package import RedisProtocol

/// One step on an app's keys in Redis: its words, and how its reply is read. Knows no connection.
///
/// A request may be repeated when its reply was lost; its script says why.
package protocol Request: Sendable {
    associatedtype Reply: Sendable

    /// The script that carries it out; nil for a command of Redis.
    static var script: Script? { get }
    /// The keys and the arguments of the script; without a script, the whole command.
    var words: [any CommandWord] { get }
    /// How long it may block in Redis, in addition to the connection's timeout.
    var blocking: Duration { get }
    /// Reads the reply, which is no error.
    static func read(_ value: RESPValue) throws(StoreError) -> Reply

    /// The same as commands of Redis, for a client that may not run scripts; empty when there is no such way.
    func plain(_ keys: Keys) -> [RESPCommand]
    /// Whether ``readPlain(_:_:)`` accepts error replies.
    static var readsErrors: Bool { get }
    /// Reads the replies to the plain commands; none is an error unless ``readsErrors``.
    func readPlain(_ replies: [RESPValue], _ keys: Keys) throws(StoreError) -> Reply
}

extension Request {
    package static var script: Script? { nil }
    package var blocking: Duration { .zero }
    package func plain(_ keys: Keys) -> [RESPCommand] { [] }
    package static var readsErrors: Bool { false }

    package func readPlain(_ replies: [RESPValue], _ keys: Keys) throws(StoreError) -> Reply {
        throw .unexpectedReply("\(Self.self) has no plain commands")
    }

    /// The whole command. `hash` is what Redis replied when the script was loaded.
    package func command(_ keys: Keys, hash: [UInt8]?) -> RESPCommand {
        var command = RESPCommand()
        if let script = Self.script {
            guard let hash else { preconditionFailure("\(Self.self) needs the hash of its script") }
            command.append(script.isReadOnly ? "EVALSHA_RO" : "EVALSHA")
            command.append(hash)
        }
        for word in words { word.write(to: &command, keys) }
        return command
    }

    /// Reads any reply.
    package static func result(_ value: RESPValue) throws(StoreError) -> Reply {
        if let error = value.error { throw StoreError(error) }
        return try read(value)
    }
}

extension RESPCommand {
    package init(_ name: String, key: [UInt8], _ words: String...) {
        self.init()
        append(name)
        append(key)
        for word in words { append(word) }
    }
}

// MARK: Replies of one value

extension Request {
    static func number(_ value: RESPValue) throws(StoreError) -> Int64 {
        guard let number = value.integer else { throw .unexpectedReply("\(Self.self)") }
        return number
    }
}

extension Request where Reply == Bool {
    /// 1 is true.
    package static func read(_ value: RESPValue) throws(StoreError) -> Bool { try number(value) == 1 }
}

extension Request where Reply == Int {
    package static func read(_ value: RESPValue) throws(StoreError) -> Int { Int(try number(value)) }
}

extension Request where Reply == [String] {
    package static func read(_ value: RESPValue) throws(StoreError) -> [String] {
        var reader = try ReplyReader(value, Self.self)
        return try reader.remainingTexts()
    }
}

extension Request where Reply == Void {
    package static func read(_ value: RESPValue) throws(StoreError) {}
}
