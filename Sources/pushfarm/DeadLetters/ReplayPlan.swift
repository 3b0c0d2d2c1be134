import PushModel
import StoreProtocol

/// Groups dead letters into jobs, and decides which dead letters are not replayed. Does no I/O.
struct ReplayPlan {
    /// The reason why a dead letter is skipped.
    enum SkipReason: String, CaseIterable, Sendable {
        /// The pushes have expired.
        case expired
        /// The push may be sent at most once, and may already have been delivered.
        case unknown
        /// The push crashed workers, and the operator did not select the reason `poison`.
        case poison
        /// The job with the dead letter would be larger than the app allows.
        case large
        /// The farm would refuse the job with the dead letter.
        case refused
        /// The dead letter cannot be decoded.
        case unreadable

        var advice: String {
            switch self {
            case .expired: "have expired; --ttl gives them a new time to live"
            case .unknown:
                "may be sent at most once and may have been delivered; --even-unknown sends them"
            case .poison: "crashed workers; --reason poison sends them"
            case .large: "would be a job larger than max_job_bytes"
            case .refused: "would be refused"
            case .unreadable: "cannot be read"
            }
        }
    }

    struct Limits: Sendable {
        /// The most pushes in one job.
        var pushes = 10_000
        var bytes = 512 << 10
        var letters = 500
        /// The maximum size in bytes of all groups together that are not full yet. If it is exceeded, the oldest group
        /// becomes a job.
        var waiting = 8 << 20
    }

    var limits = Limits()
    /// The present time in Unix seconds.
    let now: Int64
    var hasNewTime = false
    var takesUnknown = false
    var takesPoison = false

    private var open: [ReplayGroup.Key: ReplayGroup] = [:]
    /// The keys of the groups in the order of their first dead letters. The entries before `head` are no longer used,
    /// and entries of groups that became full are ignored.
    private var order: [ReplayGroup.Key] = []
    private var head = 0
    private var waiting = 0
    private(set) var skipped: [SkipReason: Int] = [:]

    init(now: Int64) { self.now = now }

    /// - Returns: the groups that became full and must be sent as jobs.
    mutating func add(_ letter: DeadLetter, of app: String) -> [ReplayGroup] {
        guard let decoded = DecodedDeadLetter(letter, app: app) else {
            skip(letter.pushes, .unreadable)
            return []
        }
        let key = ReplayGroup.Key(decoded)
        if let why = reason(toSkip: letter, key.options) {
            skip(decoded.batch.pushes.count, why)
            return []
        }
        var full: [ReplayGroup] = []
        if let group = open[key], !fits(decoded, into: group), let ended = take(key) { full.append(ended) }
        if open[key] == nil {
            open[key] = ReplayGroup(key: key)
            order.append(key)
        }
        open[key]?.append(decoded)
        waiting += decoded.jobBytes
        while waiting > limits.waiting, let group = takeOldest() { full.append(group) }
        return full
    }

    /// Returns the groups that are left, in the order of their first dead letters.
    mutating func finish() -> [ReplayGroup] {
        var groups: [ReplayGroup] = []
        while let group = takeOldest() { groups.append(group) }
        return groups
    }

    var skippedPushes: Int { skipped.values.reduce(0, +) }

    mutating func skip(_ pushes: Int, _ why: SkipReason) { skipped[why, default: 0] += pushes }

    private func reason(toSkip letter: DeadLetter, _ options: PushOptions) -> SkipReason? {
        if let deadline = options.deadline, deadline <= now, !hasNewTime { return .expired }
        if letter.reason == FarmReason.unknown.rawValue, options.delivery == .atMostOnce, !takesUnknown {
            return .unknown
        }
        if letter.reason == FarmReason.poison.rawValue, !takesPoison { return .poison }
        return nil
    }

    private func fits(_ letter: DecodedDeadLetter, into group: ReplayGroup) -> Bool {
        group.pushes + letter.batch.pushes.count <= limits.pushes && group.letters.count < limits.letters
            && group.bytes + letter.jobBytes <= limits.bytes
    }

    private mutating func takeOldest() -> ReplayGroup? {
        while head < order.count {
            defer { head += 1 }
            if let group = take(order[head]) { return group }
        }
        (order, head) = ([], 0)
        return nil
    }

    private mutating func take(_ key: ReplayGroup.Key) -> ReplayGroup? {
        guard let group = open.removeValue(forKey: key) else { return nil }
        waiting -= group.letters.reduce(0) { $0 + $1.jobBytes }
        return group
    }
}

extension DecodedDeadLetter {
    /// About how many bytes the dead letter's pushes take in the text of a job.
    fileprivate var jobBytes: Int {
        batch.pushes.reduce(0) {
            $0 + 2 * $1.token.count + (jobPart.hasPayloadPerPush ? $1.payload.count : 0) + 32
        }
    }
}

/// Dead letters that can be sent as one job, because they are from the same job and have the same options and the same
/// payload.
struct ReplayGroup {
    struct Key: Hashable {
        let job: String
        let options: PushOptions
        /// The payload of all pushes; empty if each push has its own payload.
        let payload: [UInt8]
        let hasPayloadPerPush: Bool

        fileprivate init(_ letter: DecodedDeadLetter) {
            let jobPart = letter.jobPart
            (job, options, hasPayloadPerPush) = (
                letter.letter.job, jobPart.options, jobPart.hasPayloadPerPush
            )
            payload = hasPayloadPerPush ? [] : Array(letter.batch.bytes[jobPart.payload])
        }
    }

    let key: Key
    private(set) var letters: [DecodedDeadLetter] = []
    private(set) var pushes = 0
    /// The approximate size of the job's text.
    private(set) var bytes: Int

    init(key: Key) {
        self.key = key
        bytes = 512 + key.payload.count
    }

    var ids: [EntryID] { letters.map(\.letter.id) }

    mutating func append(_ letter: DecodedDeadLetter) {
        letters.append(letter)
        pushes += letter.batch.pushes.count
        bytes += letter.jobBytes
    }

    /// The job that sends the dead letters again, in the format of a producer.
    /// - Parameter ttl: the time to live in seconds from now, which replaces the old job's time to live.
    func job(id: String, lane: Lane, ttl: Int?) -> [UInt8] {
        var text = JSONText(capacity: bytes)
        text.object { text in
            text.member("id", id)
            text.member("replay_of", key.job)
            for (name, value) in key.options.jsonFields(ttl: ttl) + [("lane", .string(lane.name))] {
                text.key(name)
                value.append(to: &text)
            }
            text.key(key.hasPayloadPerPush ? "pushes" : "tokens")
            text.array { text in
                for letter in letters {
                    for push in letter.batch.pushes {
                        guard key.hasPayloadPerPush else {
                            text.value(letter.token(of: push))
                            continue
                        }
                        text.object {
                            $0.member("token", letter.token(of: push))
                            $0.member("payload", json: letter.batch.bytes[push.payload])
                        }
                    }
                }
            }
            if !key.hasPayloadPerPush { text.member("payload", json: key.payload) }
        }
        return text.bytes
    }

    /// The longest job id that the job contract allows, in characters.
    private static let idLength = 64
    private static let idBytes = 255

    /// The id `OLD.rN`, in which `OLD` is the id of the old job and `N` is `number`. If this id is too long, a hash of
    /// `OLD` replaces the end of `OLD`.
    static func jobID(replaying old: String, number: Int) -> String {
        let suffix = ".r\(number)"
        let whole = old + suffix
        if whole.unicodeScalars.count <= idLength, whole.utf8.count <= idBytes { return whole }
        let digits = String(XXH64.hash(Array(old.utf8), seed: 3), radix: 16)
        var start = ""
        for scalar in old.unicodeScalars.prefix(idLength - 17 - suffix.count) {
            guard start.utf8.count + 4 <= idBytes - 17 - suffix.count else { break }
            start.unicodeScalars.append(scalar)
        }
        return start + "~" + digits + suffix
    }
}
