import EventLoop
import FarmConfiguration
import Foundation
import PushModel
import RedisClient
import StoreProtocol

/// Checks whether Redis is configured so that it loses no pushes.
@Loop struct RedisCheck {
    let client: FarmClient

    func findings() async throws(CommandFailure) -> [Finding] {
        let info = try await client.ask { farmRedis throws(RedisError) in try await farmRedis.info() }
        let skew = try await client.clock() - .milliseconds(WallClock.milliseconds)
        let own = [
            version(info), Self.eviction(info), Self.persistence(info), Self.memory(info), Self.clock(skew),
            RedisExposureCheck(location: client.location).finding,
        ]
        return try await own + AdmissionCheck(client: client).findings()
            + InboxCheck(client: client).findings() + RecordEncodingCheck(client: client).findings()
    }

    private func version(_ info: RedisInfo) -> Finding {
        let major = Int(foreign: info.version.prefix { $0.isNumber }) ?? 0
        return Finding(
            "redis", .failed, when: major < 7, "\(client.redisAddress): Redis \(info.version)",
            advice: "Pushfarm needs Redis 7.0 or newer.")
    }

    private static func eviction(_ info: RedisInfo) -> Finding {
        let policy = info.evictionPolicy
        let isSafe = policy == "noeviction"
        return Finding(
            "redis eviction", .failed, when: !isSafe,
            isSafe ? policy : "maxmemory-policy is \(policy): Redis may drop jobs",
            advice: "CONFIG SET maxmemory-policy noeviction, and put it into redis.conf.")
    }

    private static func persistence(_ info: RedisInfo) -> Finding {
        guard info.isAppendOnly else {
            return Finding(
                "redis persistence", .warning,
                "the append-only file is off: a restart of Redis loses what is queued",
                advice: "CONFIG SET appendonly yes, and put it into redis.conf with appendfsync everysec.")
        }
        return Finding(
            "redis persistence", .failed, when: !info.isLastAppendOK,
            info.isLastAppendOK ? "append-only file" : "Redis cannot write its append-only file",
            advice: "Check the disk of the Redis host and Redis's log.")
    }

    private static func memory(_ info: RedisInfo) -> Finding {
        let used = Figures.bytes(Int64(info.usedMemory))
        let limit = info.maxMemory > 0 ? info.maxMemory : info.systemMemory
        guard limit > 0 else { return Finding("redis memory", .ok, used) }
        let isFull = Double(info.usedMemory) / Double(limit) > 0.8
        return Finding(
            "redis memory", .warning, when: isFull || info.maxMemory == 0,
            "\(used) of \(Figures.bytes(Int64(limit)))"
                + (info.maxMemory > 0 ? "" : ", all that the machine has"),
            advice: isFull
                ? "Give Redis more memory, or let producers wait: it refuses jobs when full."
                : "Set maxmemory: without it the kernel kills Redis when memory runs out.")
    }

    /// - Parameter skew: Redis's clock minus this machine's clock.
    private static func clock(_ skew: Duration) -> Finding {
        let apart = skew < .zero ? .zero - skew : skew
        return Finding(
            "clock", .warning, when: apart > .seconds(5), "\(Figures.time(apart)) apart from Redis's",
            advice: "Run NTP on both hosts: Apple refuses tokens signed by a clock that is wrong by an hour.")
    }
}

/// Checks who can write to Redis, because every user who can write to Redis controls the farm. Run this check only
/// after a successful connection to Redis.
struct RedisExposureCheck {
    let location: RedisLocation

    var finding: Finding {
        guard let who else { return Finding("redis access", .ok, "\(location)") }
        return Finding(
            "redis access", .warning, "\(location) asks for no password: \(who) controls the farm",
            advice:
                "Give Redis users (deploy/users.acl) or a password, and name its file: redis_password_file.")
    }

    /// The users that can connect, or nil when a password or the mode of the socket keeps other users out.
    private var who: String? {
        guard location.password == nil else { return nil }
        switch location.endpoint {
        case .tcp: return "every client that reaches it"
        case .unix(let path):
            let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
            let isOpen = Self.mode(path) & 0o002 != 0 && Self.mode(folder.isEmpty ? "/" : folder) & 0o001 != 0
            return isOpen ? "every user of this machine" : nil
        }
    }

    private static func mode(_ path: String) -> UInt32 {
        var status = stat()
        return stat(path, &status) == 0 ? UInt32(status.st_mode) : 0
    }
}

/// Checks whether the apps accept jobs, and whether Redis has the function with which producers submit jobs.
@Loop struct AdmissionCheck {
    let client: FarmClient

    func findings() async throws(CommandFailure) -> [Finding] {
        var findings = [try await function()]
        let shards = try await client.fixedShards()
        for app in client.configuration.apps {
            let faults = try await client.call(FindDamage(shards: shards), app.name)
            findings += Self.findings(faults, of: app.name)
            // The findings above already report the keys of the wrong type. The rest of the check needs keys of the
            // right type.
            guard faults.wrongTypes.isEmpty else { continue }
            guard let full = try await client.call(ReadAppState(), app.name).full else { continue }
            findings.append(
                Finding(
                    app.name, .warning, "full: \(full.reason.text)",
                    advice: full.reason == .memory
                        ? "Give Redis more memory, or wait: accepted jobs are still sent."
                        : "Let it drain, or raise the app's limit in the configuration."))
        }
        return findings
    }

    private static func findings(_ faults: FindDamage.Reply, of app: String) -> [Finding] {
        let types = faults.wrongTypes.map {
            Finding(
                app, .failed, "the Redis key \($0.text)",
                advice: "Rename the key (RENAME) and find out who wrote it; the app then continues by itself."
            )
        }
        return types
            + faults.unreadableWords.map {
                Finding(
                    app, .warning, $0,
                    advice: "Run pushfarm debug fsck, then pushfarm debug fsck --repair --app \(app).")
            }
    }

    private func function() async throws(CommandFailure) -> Finding {
        let name = FunctionLibrary.submit
        let library = try await client.ask { farmRedis throws(RedisError) in
            try await farmRedis.functionLibrary()
        }
        guard let library else {
            return Finding(
                "redis function", .warning, "\(name) is not loaded",
                advice: "A coordinator loads it when it starts; until then producers can only RPUSH.")
        }
        let theirs = FunctionLibrary.version(of: library)
        let ours = FunctionLibrary.version(of: FunctionLibrary.text)
        return Finding(
            "redis function", .warning, when: theirs < ours,
            theirs < ours
                ? "\(name) has version \(theirs), older than \(ours)" : "\(name), version \(theirs)",
            advice: "A coordinator of this release replaces it when it starts.")
    }
}

/// Checks that Redis stores the records of devices in its small encoding.
@Loop struct RecordEncodingCheck {
    let client: FarmClient

    func findings() async throws(CommandFailure) -> [Finding] {
        var findings: [Finding] = []
        for app in client.configuration.apps {
            let (connection, _) = try await client.registryConnection(of: app.name)
            let encodings: [String]
            do throws(RedisError) {
                encodings = try await FarmRedis(connection: connection).recordEncodings(of: app.name)
            } catch { throw client.failure(.redis(error)) }
            if let finding = Self.finding(encodings, of: app.name) { findings.append(finding) }
        }
        return findings
    }

    /// - Parameter encodings: the encodings of some hashes with records.
    /// - Returns: nil if the app has no stored devices.
    nonisolated static func finding(_ encodings: [String], of app: String) -> Finding? {
        guard !encodings.isEmpty else { return nil }
        let large = encodings.count { $0 == "hashtable" }
        return Finding(
            app, .warning, when: large > 0,
            large == 0
                ? "devices are stored in the small encoding"
                : "devices take twice the memory: \(large) of \(encodings.count) hashes are hash tables",
            advice: "CONFIG SET hash-max-listpack-value 1024, and put it into redis.conf; "
                + "a restart of Redis then makes existing hashes small.")
    }
}

/// Checks for jobs in inboxes of apps that are not configured, such as an app with a misspelt name.
@Loop struct InboxCheck {
    let client: FarmClient

    /// The number of Redis keys per scan step, and the most scan steps.
    private static let (keys, portions) = (500, 40)
    /// The most inboxes that the check names.
    private static let most = 5

    func findings() async throws(CommandFailure) -> [Finding] {
        let check = "inboxes"
        let hosts = try await client.ask { farmRedis throws(RedisError) in try await farmRedis.hosts() }
        let apps = client.configuration.apps.map(\.name) + hosts.flatMap(\.apps)
        let (names, isWhole) = try await unknownInboxes(to: Set(apps))
        var findings: [Finding] = []
        for name in names.prefix(Self.most) {
            let jobs = try await client.ask { farmRedis throws(RedisError) in
                try await farmRedis.inboxLength(name)
            }
            guard jobs > 0 else { continue }
            let meant = NearestWord.find(name, among: apps).map { "; did you mean \"\($0)\"?" } ?? ""
            findings.append(
                Finding(
                    check, .warning,
                    "pushfarm:\(PlainText.of(name, limit: 64)) holds \(Figures.counted(jobs, "job", "jobs")), and no app of "
                        + "this name is configured\(meant)",
                    advice: "Correct the producer and move the list with RENAME, or configure the app."))
        }
        if names.count > Self.most {
            findings.append(Finding(check, .warning, "there are \(names.count - Self.most) more of them"))
        }
        guard findings.isEmpty else { return findings }
        let part = isWhole ? "" : " among the first \(Self.keys * Self.portions) keys"
        return [Finding(check, .ok, "none of an app that is not configured" + part)]
    }

    private func unknownInboxes(
        to apps: Set<String>
    ) async throws(CommandFailure) -> (names: [String], isWhole: Bool) {
        var (cursor, found): (String, Set<String>) = ("0", [])
        for _ in 0..<Self.portions {
            let from = cursor
            let page = try await client.ask { farmRedis throws(RedisError) in
                try await farmRedis.inboxes(from: from, count: Self.keys)
            }
            found.formUnion(page.names.filter { !apps.contains($0) })
            cursor = page.next
            if cursor == "0" { return (found.sorted(), true) }
        }
        return (found.sorted(), false)
    }
}
