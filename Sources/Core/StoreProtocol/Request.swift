package import RedisProtocol

/// One step on an app's part of Redis: arguments in, a typed reply out. Knows no connection.
///
/// Every request may be made again when its reply was lost; its script says why.
package protocol Request: Sendable {
    associatedtype Reply: Sendable

    /// The script that does it; nil for a command of Redis.
    static var script: Script? { get }
    /// How long it blocks in Redis by itself, on top of which comes the connection's deadline.
    var blocking: Duration { get }
    /// The same as commands of Redis, for a client that may not run scripts; empty when there is no such way.
    func plain(_ keys: Keys) -> [RESPCommand]
    /// Whether ``readPlain(_:_:)`` makes something of error replies.
    static var readsErrors: Bool { get }
    /// Reads the answers to them, of which none is an error unless ``readsErrors``.
    func readPlain(_ answers: [RESPValue], _ keys: Keys) throws(StoreError) -> Reply
    /// Appends the number of keys, the keys and the arguments of the script; without a script, the whole command.
    func write(_ keys: Keys, to command: inout RESPCommand)
    /// Reads the answer, which is no error.
    static func read(_ value: RESPValue) throws(StoreError) -> Reply
}

extension Request {
    package static var script: Script? { nil }
    package var blocking: Duration { .zero }
    package func plain(_ keys: Keys) -> [RESPCommand] { [] }
    package static var readsErrors: Bool { false }

    package func readPlain(_ answers: [RESPValue], _ keys: Keys) throws(StoreError) -> Reply {
        throw .unexpectedReply("\(Self.self) has no plain commands")
    }

    /// The whole command. `hash` is what Redis answered when the script was loaded.
    package func command(_ keys: Keys, hash: [UInt8]?) -> RESPCommand {
        var command = RESPCommand()
        if let script = Self.script {
            guard let hash else { preconditionFailure("\(Self.self) needs the hash of its script") }
            command.append(script.isReadOnly ? "EVALSHA_RO" : "EVALSHA")
            command.append(hash)
        }
        write(keys, to: &command)
        return command
    }

    /// Reads any answer.
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

    /// The one key of most scripts.
    mutating func append(_ keys: Keys) {
        append(1)
        append(keys.prefix)
    }

    /// The keys of the scripts that also read the inbox.
    mutating func append(_ keys: Keys, inbox: Void) {
        append(2)
        append(keys.prefix)
        append(keys.inbox)
    }

    mutating func append(_ flag: Bool) {
        append(flag ? 1 : 0)
    }
}
