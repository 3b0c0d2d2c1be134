package import RedisProtocol

/// Why a step of the store did not happen, or is not known to have happened.
package enum StoreError: Error, Equatable, Sendable {
    case redis(RedisError)
    /// Another owner has the field ("intake" or a shard number): let go of what was held under this token.
    case fenced(field: String)
    /// The intake is at this step: take again, from the beginning.
    case outOfStep(Int)
    /// So many jobs are taken: fewer than the caller holds, or others. Take again, from the beginning.
    case fewerTaken(Int)
    /// A job record of this id is open or younger than a day; nothing was split.
    case exists(job: String)
    /// The number of a replay is taken; this is the last one.
    case numberTaken(Int)
    /// A letter, or a refused job, is not there any more; nothing happened.
    case gone(EntryID)
    /// A replay of that name was of something else.
    case otherReplay(of: String)
    /// This key of the app is of the wrong type; nothing happened, and nothing will until it is put right.
    case wrongType(key: String)
    /// A reply is not of the shape that was agreed on.
    case unexpectedReply(String)

    /// Whether the same call, made again later, can succeed. All steps may be repeated.
    package var isTemporary: Bool {
        if case .redis(let error) = self { error.isTemporary } else { false }
    }

    /// Whether Redis has the call, and will not do it: neither repeating nor another connection helps.
    package var isRefusal: Bool {
        if case .redis(let error) = self { error.isRefusal } else { true }
    }

    /// Tells the scripts' own answers from Redis's.
    package init(_ error: RESPServerError) {
        let rest = String(decoding: error.message.utf8.dropFirst(error.code.utf8.count + 1), as: UTF8.self)
        switch error.code {
        case "FENCED": self = .fenced(field: rest)
        case "STEP": self = .outOfStep(Int(foreign: rest) ?? 0)
        case "TAKEN": self = .fewerTaken(Int(foreign: rest) ?? 0)
        case "EXISTS": self = .exists(job: rest)
        case "NUMBER": self = .numberTaken(Int(foreign: rest) ?? 0)
        case "GONE": self = .gone(EntryID(Array(rest.utf8)))
        case "KEY": self = .wrongType(key: rest.split(separator: " ").first.map(String.init) ?? rest)
        case "OTHER": self = .otherReplay(of: rest)
        default: self = .redis(RedisError(error))
        }
    }
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .redis(let error): error.description
        case .fenced(let field): "\(field) has another owner"
        case .outOfStep(let step): "the intake is at step \(step)"
        case .fewerTaken(let count): "\(count) jobs are taken, and not those that this is about"
        case .exists(let job): "job \(job) exists"
        case .numberTaken(let number): "there is a replay number \(number)"
        case .gone(let id): "\(id) is gone"
        case .otherReplay(let what): "the replay was of \(what)"
        case .wrongType(let key): "\(key) is of the wrong type"
        case .unexpectedReply(let what): "unexpected reply: \(what)"
        }
    }
}
