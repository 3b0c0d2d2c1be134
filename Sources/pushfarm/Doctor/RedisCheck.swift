import EventLoop
import StoreProtocol

/// Whether Redis is fit to hold what must not be lost.
struct RedisCheck {
    let info: RedisInfo
    let place: String
    /// Redis's clock minus ours.
    let skew: Duration

    var findings: [Finding] { [version, eviction, persistence, memory, clock] }

    private var version: Finding {
        let major = info.version.prefix { $0.isNumber }
        guard (Int(foreign: major) ?? 0) >= 7 else {
            return Finding(
                "redis", .failed, "\(place): Redis \(info.version)",
                advice: "Pushfarm needs Redis 7.0 or newer.")
        }
        return Finding("redis", .ok, "\(place): Redis \(info.version)")
    }

    private var eviction: Finding {
        info.evictionPolicy == "noeviction"
            ? Finding("redis eviction", .ok, "noeviction")
            : Finding(
                "redis eviction", .failed, "maxmemory-policy is \(info.evictionPolicy): Redis may drop jobs",
                advice: "CONFIG SET maxmemory-policy noeviction, and put it into redis.conf.")
    }

    private var persistence: Finding {
        guard info.isAppendOnly else {
            return Finding(
                "redis persistence", .warning,
                "the append-only file is off: a restart of Redis loses what is queued",
                advice: "CONFIG SET appendonly yes, and put it into redis.conf with appendfsync everysec.")
        }
        guard info.isLastAppendOK else {
            return Finding(
                "redis persistence", .failed, "Redis cannot write its append-only file",
                advice: "Look at the disk of the Redis host, and at Redis's log.")
        }
        return Finding("redis persistence", .ok, "append-only file")
    }

    private var memory: Finding {
        let used = Figures.bytes(Int64(info.usedMemory))
        let limit = info.maxMemory > 0 ? info.maxMemory : info.systemMemory
        guard limit > 0 else { return Finding("redis memory", .ok, used) }
        let text =
            "\(used) of \(Figures.bytes(Int64(limit)))"
            + (info.maxMemory > 0 ? "" : ", all that the machine has")
        let share = Double(info.usedMemory) / Double(limit)
        if share > 0.8 {
            return Finding(
                "redis memory", .warning, text,
                advice: "Give Redis more memory, or let producers wait: it refuses jobs when full.")
        }
        if info.maxMemory == 0 {
            return Finding(
                "redis memory", .warning, text,
                advice: "Set maxmemory: without it the kernel kills Redis when memory runs out.")
        }
        return Finding("redis memory", .ok, text)
    }

    private var clock: Finding {
        let apart = skew < .zero ? .zero - skew : skew
        let text = "\(Figures.time(apart)) apart from Redis's"
        return apart > .seconds(5)
            ? Finding(
                "clock", .warning, text,
                advice:
                    "Run NTP on both hosts: Apple refuses tokens signed by a clock that is wrong by an hour.")
            : Finding("clock", .ok, text)
    }
}
