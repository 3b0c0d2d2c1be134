import APNs
import BinaryProtocol
import PushModel

/// Tokens that a push has found to be unregistered, and that no client has read yet. The oldest token is first, and
/// each token occurs once.
struct FeedbackList {
    static let most = 1 << 20

    private var tokens: [[UInt8]] = []
    private var head = 0
    private var times: [[UInt8]: UInt32] = [:]

    var count: Int { times.count }

    /// - Parameter time: when the token was found to be unregistered, in seconds since 1970.
    /// - Returns: true if the token was not in the list.
    @discardableResult
    mutating func add(_ token: some Collection<UInt8>, time: UInt32) -> Bool {
        let token = Array(token)
        if times.index(forKey: token) != nil {
            times[token] = time
            return false
        }
        guard count < Self.most else { return false }
        times[token] = time
        tokens.append(token)
        return true
    }

    mutating func popFirst() -> FeedbackTuple? {
        guard head < tokens.count else { return nil }
        let token = tokens[head]
        head += 1
        if head > 4096, head * 2 > tokens.count {
            tokens.removeFirst(head)
            head = 0
        }
        return times.removeValue(forKey: token).map { FeedbackTuple(time: $0, token: token) }
    }
}

/// The lists of all topics. Tokens without a topic are in a separate list and go to the first client that reads.
struct FeedbackTable {
    private var lists: [String: FeedbackList] = [:]
    /// The number of tuples added to the lists since the start.
    private(set) var listed = 0
    /// The number of tuples that clients have read since the start.
    private(set) var read = 0

    var count: Int { lists.values.reduce(0) { $0 + $1.count } }

    mutating func add(_ token: some Collection<UInt8>, time: UInt32, topic: String?) {
        if lists[topic ?? "", default: FeedbackList()].add(token, time: time) { listed += 1 }
    }

    /// Adds invented tokens of 32 bytes that have been unregistered for up to a day.
    ///
    /// - Parameter now: the present time in seconds since 1970.
    mutating func fill(_ count: Int, topic: String?, now: UInt32, random: inout SeededRandom) {
        for _ in 0..<count {
            let words = (random.next(), random.next(), random.next(), random.next())
            let time = now - UInt32(random.next() % 86_400)
            withUnsafeBytes(of: words) { add($0, time: time, topic: topic) }
        }
    }

    /// - Parameter topic: the client's topic; nil means that the client may read all topics.
    mutating func popFirst(topic: String?) -> FeedbackTuple? {
        let topics = topic.map { [$0, ""] } ?? lists.keys.sorted()
        for topic in topics {
            guard let tuple = lists[topic]?.popFirst() else { continue }
            read += 1
            return tuple
        }
        return nil
    }

    mutating func clear() { lists.removeAll() }
}
