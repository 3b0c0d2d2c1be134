import PushModel
package import RedisProtocol

/// A part of a Redis command: one or more consecutive words.
package protocol CommandArgument: Sendable {
    func write(to command: inout RESPCommand, _ keys: Keys)
}

extension String: CommandArgument {
    package func write(to command: inout RESPCommand, _ keys: Keys) { command.append(self) }
}

extension Int: CommandArgument {
    package func write(to command: inout RESPCommand, _ keys: Keys) { command.append(self) }
}

extension Int64: CommandArgument {
    package func write(to command: inout RESPCommand, _ keys: Keys) { command.append(self) }
}

extension Bool: CommandArgument {
    package func write(to command: inout RESPCommand, _ keys: Keys) { command.append(self ? 1 : 0) }
}

extension [UInt8]: CommandArgument {
    package func write(to command: inout RESPCommand, _ keys: Keys) { command.append(self) }
}

/// Nil is written as an empty word.
extension Optional: CommandArgument where Wrapped: CommandArgument {
    package func write(to command: inout RESPCommand, _ keys: Keys) {
        if let self { self.write(to: &command, keys) } else { command.append("") }
    }
}

extension Duration: CommandArgument {
    /// Whole milliseconds, rounded down.
    package var wholeMilliseconds: Int {
        Int(clampedMilliseconds)
    }

    /// Writes the duration in milliseconds.
    package func write(to command: inout RESPCommand, _ keys: Keys) { command.append(wholeMilliseconds) }
}

/// The timeout of a blocking command, in seconds.
struct BlockingTime: CommandArgument {
    private let timeout: Duration

    init(_ timeout: Duration) { self.timeout = timeout }

    func write(to command: inout RESPCommand, _ keys: Keys) {
        // At least a millisecond: for 0, Redis would wait without limit.
        let milliseconds = max(1, timeout.wholeMilliseconds)
        let fraction = String(milliseconds % 1000 + 1000).dropFirst()
        command.append("\(milliseconds / 1000).\(fraction)")
    }
}

/// The keys of a script, after the number of keys.
enum ScriptKeys: CommandArgument {
    case prefix
    /// The prefix and the inbox, for scripts that also read the inbox.
    case prefixAndInbox

    func write(to command: inout RESPCommand, _ keys: Keys) {
        command.append(self == .prefix ? 1 : 2)
        command.append(keys.prefix)
        if self == .prefixAndInbox { command.append(keys.inbox) }
    }
}

/// One key of the app.
struct AppKey: CommandArgument {
    private let key: @Sendable (Keys) -> [UInt8]

    init(_ key: @escaping @Sendable (Keys) -> [UInt8]) { self.key = key }

    func write(to command: inout RESPCommand, _ keys: Keys) { command.append(key(keys)) }
}

/// A list of any number of words.
struct ArgumentList: CommandArgument {
    private let words: [any CommandArgument]
    private let isCounted: Bool

    /// - Parameter isCounted: whether the number of words is written before the words.
    init(_ words: [any CommandArgument], isCounted: Bool = false) {
        (self.words, self.isCounted) = (words, isCounted)
    }

    func write(to command: inout RESPCommand, _ keys: Keys) {
        if isCounted { command.append(words.count) }
        for word in words { word.write(to: &command, keys) }
    }
}

extension Set<SuppressionScope>: CommandArgument {
    /// Writes the number of scopes, then the number and the text of each scope.
    package func write(to command: inout RESPCommand, _ keys: Keys) {
        command.append(count)
        for scope in self {
            command.append(scope.field)
            command.append(scope.text)
        }
    }
}

extension SuppressionScope {
    /// The scope's number in the hash of scopes, as 8 hexadecimal digits.
    var field: String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }
}

/// Selects entries of a stream and their order.
package enum StreamRange: Sendable {
    /// The oldest entries after this entry, oldest first; nil starts at the stream's beginning.
    case after(EntryID?)
    /// The entries since this time in Unix milliseconds, oldest first.
    case since(Int64)
    case only(EntryID)
    /// The latest entries, latest first.
    case latest
    /// The latest entries before this entry, latest first.
    case before(EntryID)

    private var ends: (command: String, start: String, end: String) {
        switch self {
        case .after(let id): ("XRANGE", id.map { "(\($0)" } ?? "-", "+")
        case .since(let moment): ("XRANGE", "\(moment)", "+")
        case .only(let id): ("XRANGE", "\(id)", "\(id)")
        case .latest: ("XREVRANGE", "+", "-")
        case .before(let id): ("XREVRANGE", "(\(id)", "-")
        }
    }

    /// The words of a command that reads at most `count` entries.
    func words(_ key: AppKey, count: Int) -> [any CommandArgument] {
        [ends.command, key, ends.start, ends.end, "COUNT", count]
    }

    package func command(_ key: String, count: Int) -> RESPCommand {
        RESPCommand(ends.command, key, ends.start, ends.end, "COUNT", "\(count)")
    }
}
