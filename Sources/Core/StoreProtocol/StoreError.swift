package import RedisProtocol

/// Why a request to the store failed, or may have failed.
package enum StoreError: Error, Equatable, Sendable {
    case redis(RedisError)
    /// Another owner has the lease ("intake" or a shard number). The caller must stop all work under its old fencing token.
    case fenced(lease: String)
    /// The step of the call does not follow the intake's last step in Redis. The value is the number of that last step. The
    /// caller must forget its taken jobs and read them from Redis again.
    case outOfStep(Int)
    /// The taken jobs in Redis, whose number is this value, are not the jobs that the caller knows. The caller must forget its
    /// taken jobs and read them from Redis again.
    case takenJobsDiffer(Int)
    /// A job with this id is open or younger than a day. Nothing was split.
    case exists(job: String)
    /// Another replay of the job already uses the requested number. The value is the last used number.
    case replayNumberInUse(Int)
    /// The dead letter or refused job no longer exists. Nothing happened.
    case gone(EntryID)
    /// A replay with this name exists, and it replays another selection.
    case otherReplay(of: String)
    /// The partition of the registry does not have the expected version. The value is its version in Redis. Nothing happened. The
    /// caller must read the partition again.
    case stale(version: Int)
    /// This key of the app has the wrong type. Nothing happened, and the request fails until the key is repaired.
    case wrongType(key: String)
    /// The app's registry has its own Redis, which cannot be reached. Calls that do not need the registry can succeed.
    case registryUnavailable(RedisError)
    /// The reply does not have the expected format.
    case unexpectedReply(String)

    /// Whether the same call can succeed later.
    package var isTemporary: Bool {
        if case .redis(let error) = self { error.isTemporary } else { false }
    }

    /// Whether Redis received and refused the call. If so, the same call would fail again, even on a new connection.
    package var isRefusal: Bool {
        switch self {
        case .redis(let error), .registryUnavailable(let error): error.isRefusal
        default: true
        }
    }

    /// Translates the error replies of the farm's scripts to cases; other errors come from Redis itself.
    package init(_ error: RESPServerError) {
        let rest = String(decoding: error.message.utf8.dropFirst(error.code.utf8.count + 1), as: UTF8.self)
        switch error.code {
        case "FENCED": self = .fenced(lease: rest)
        case "STEP": self = .outOfStep(Int(foreign: rest) ?? 0)
        case "TAKEN": self = .takenJobsDiffer(Int(foreign: rest) ?? 0)
        case "EXISTS": self = .exists(job: rest)
        case "NUMBER": self = .replayNumberInUse(Int(foreign: rest) ?? 0)
        case "GONE": self = .gone(EntryID(Array(rest.utf8)))
        case "KEY": self = .wrongType(key: rest.split(separator: " ").first.map(String.init) ?? rest)
        case "STALE": self = .stale(version: Int(foreign: rest) ?? 0)
        case "OTHER": self = .otherReplay(of: rest)
        default: self = .redis(RedisError(error))
        }
    }
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .redis(let error): error.description
        case .fenced(let lease): "\(lease) has another owner"
        case .outOfStep(let step): "the intake is at step \(step)"
        case .takenJobsDiffer(let count): "\(count) jobs are taken, and not the expected jobs"
        case .exists(let job): "job \(job) exists"
        case .replayNumberInUse(let number): "replay number \(number) exists"
        case .gone(let id): "\(id) no longer exists"
        case .otherReplay(let what): "the replay was of \(what)"
        case .stale(let version): "the partition of the registry has version \(version)"
        case .wrongType(let key): "\(key) is of the wrong type"
        case .registryUnavailable(let error): "the Redis with the registry: \(error.description)"
        case .unexpectedReply(let what): "unexpected reply: \(what)"
        }
    }
}
