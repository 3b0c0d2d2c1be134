import PushModel
import StoreProtocol

/// Puts dead letters together into jobs, and says which of them are better left alone. Does no I/O.
struct ReplayPlan {
    /// Why a letter stays.
    enum Left: String, CaseIterable, Sendable {
        /// Its pushes are worth nothing any more.
        case expired
        /// It was to be sent at most once, and may have been delivered.
        case unknown
        /// It ended workers, and was not asked for by that name.
        case poison
        /// A job of it would be larger than the app takes.
        case large
        /// A job of it would be refused.
        case refused
        /// It cannot be read.
        case unreadable

        var advice: String {
            switch self {
            case .expired: "their time is over; --ttl gives them a new one"
            case .unknown:
                "were to be sent at most once and may have been delivered; --even-unknown sends them"
            case .poison: "ended workers; --reason poison sends them"
            case .large: "would be a job larger than max_job_bytes"
            case .refused: "would be refused"
            case .unreadable: "cannot be read"
            }
        }
    }

    struct Limits: Sendable {
        /// Of one job.
        var pushes = 10_000
        var bytes = 512 << 10
        var letters = 500
        /// Letters of a job that is not yet full are kept here until so many bytes wait.
        var waiting = 8 << 20
    }

    var limits = Limits()
    /// Unix seconds.
    let now: Int64
    var hasNewTime = false
    var takesUnknown = false
    var takesPoison = false

    private var open: [ReplayGroup.Key: ReplayGroup] = [:]
    /// Keys in the order in which their groups were begun, from `head` on; those of groups that were full are passed over.
    private var order: [ReplayGroup.Key] = []
    private var head = 0
    private var waiting = 0
    private(set) var left: [Left: Int] = [:]

    init(now: Int64) { self.now = now }

    /// - Returns: jobs that are full now.
    mutating func add(_ letter: DeadLetter) -> [ReplayGroup] {
        guard let (key, pushes) = ReplayGroup.contents(of: letter) else {
            leave(letter.pushes, .unreadable)
            return []
        }
        if let why = reason(toLeave: letter, key.options) {
            leave(pushes.count, why)
            return []
        }
        var full: [ReplayGroup] = []
        if let group = open[key], !fits(pushes, into: group), let ended = take(key) { full.append(ended) }
        if open[key] == nil {
            open[key] = ReplayGroup(key: key)
            order.append(key)
        }
        open[key]?.append(letter.id, pushes)
        waiting += ReplayGroup.bytes(of: pushes)
        while waiting > limits.waiting, let group = takeOldest() { full.append(group) }
        return full
    }

    /// What is left, in the order in which it came.
    mutating func finish() -> [ReplayGroup] {
        var groups: [ReplayGroup] = []
        while let group = takeOldest() { groups.append(group) }
        return groups
    }

    var leftPushes: Int { left.values.reduce(0, +) }

    mutating func leave(_ pushes: Int, _ why: Left) { left[why, default: 0] += pushes }

    private func reason(toLeave letter: DeadLetter, _ options: PushOptions) -> Left? {
        if let deadline = options.deadline, deadline <= now, !hasNewTime { return .expired }
        if letter.reason == FarmReason.unknown.rawValue, options.delivery == .atMostOnce, !takesUnknown {
            return .unknown
        }
        if letter.reason == FarmReason.poison.rawValue, !takesPoison { return .poison }
        return nil
    }

    private func fits(_ pushes: [ReplayGroup.Push], into group: ReplayGroup) -> Bool {
        group.pushes.count + pushes.count <= limits.pushes && group.letters.count < limits.letters
            && group.bytes + ReplayGroup.bytes(of: pushes) <= limits.bytes
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
        waiting -= ReplayGroup.bytes(of: group.pushes)
        return group
    }
}
