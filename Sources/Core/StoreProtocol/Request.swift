package import RedisProtocol

/// One operation on an app's keys in Redis: the words of its command, and how to read the reply. A request does not contain a
/// connection: the caller sends the request over a connection.
///
/// If the reply is lost, the caller may repeat a request, unless its comment forbids this. For a request with a script, the
/// script's header explains under `Again` why this is safe.
package protocol Request: Sendable {
    associatedtype Reply: Sendable

    /// The script that runs this request; nil for a plain Redis command.
    static var script: Script? { get }
    /// The keys and the arguments of the script. Without a script, these are all words of the command.
    var words: [any CommandArgument] { get }
    /// How long the request may block in Redis, in addition to the connection's timeout.
    var blocking: Duration { get }
    /// Reads the reply, which must not be an error.
    static func read(_ value: RESPValue) throws(StoreError) -> Reply

    /// The plain commands that do the same as the script, for a Redis user that may not run scripts; empty if only the script can
    /// do this.
    func plain(_ keys: Keys) -> [RESPCommand]
    /// Whether ``readPlain(_:_:)`` accepts error replies.
    static var readsErrors: Bool { get }
    /// Reads the replies to the plain commands. The replies contain no errors unless ``readsErrors`` is true.
    func readPlain(_ replies: [RESPValue], _ keys: Keys) throws(StoreError) -> Reply
}

extension Request {
    package static var script: Script? { nil }
    package var blocking: Duration { .zero }
    package func plain(_ keys: Keys) -> [RESPCommand] { [] }
    package static var readsErrors: Bool { false }

    package func readPlain(_ replies: [RESPValue], _ keys: Keys) throws(StoreError) -> Reply {
        throw .unexpectedReply("the request \(Self.self) has no form without a script")
    }

    /// Builds the whole command that runs the request. `hash` is the hash of the script, which Redis returned when the
    /// script was loaded.
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

    /// Reads a reply, or throws the error that it contains.
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
    /// The reply 1 means true.
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
