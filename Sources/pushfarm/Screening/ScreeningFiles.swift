/// What a screening writes: good, invalid and other tokens, and how far it is.
struct ScreeningFiles: ~Copyable {
    struct Paths: Sendable {
        var tokens: String
        var good: String
        var invalid: String
        var rest: String
        /// How far it is.
        var progress: String

        init(tokens: String, good: String?, invalid: String?, rest: String?) {
            self.tokens = tokens
            self.good = good ?? tokens + ".good"
            self.invalid = invalid ?? tokens + ".invalid"
            self.rest = rest ?? tokens + ".rest"
            progress = self.good + ".progress"
        }
    }

    let paths: Paths
    private var good: ScreeningFile
    private var invalid: ScreeningFile
    private var rest: ScreeningFile
    private(set) var record: ScreeningRecord
    /// Whether an earlier process began.
    let isResumed: Bool

    /// Opens what an earlier process left behind, or begins.
    ///
    /// - Parameters:
    ///   - fresh: the record to begin with.
    ///   - anew: whatever was left behind is replaced.
    init(_ paths: Paths, fresh: ScreeningRecord, anew: Bool) throws(CommandFailure) {
        guard Set([paths.tokens, paths.good, paths.invalid, paths.rest, paths.progress]).count == 5 else {
            throw .usage("two of the files are the same one")
        }
        var good = try ScreeningFile(paths.good)
        var invalid = try ScreeningFile(paths.invalid)
        var rest = try ScreeningFile(paths.rest)
        let isDistinct =
            !good.isSame(as: paths.tokens) && !invalid.isSame(as: paths.tokens)
            && !rest.isSame(as: paths.tokens)
        guard isDistinct else { throw .usage("one of the files is \(paths.tokens) itself") }
        let found = anew ? nil : try Self.found(paths.progress, fresh, paths)
        if found == nil, !anew {
            for (path, size) in [
                (paths.good, good.size), (paths.invalid, invalid.size), (paths.rest, rest.size),
            ]
            where size > 0 {
                throw .usage("\(path) is there already; --anew replaces it")
            }
        }
        let record = found ?? fresh
        // The record goes first: a file without a record that counts its lines would be in the way of the next start.
        if found == nil { try ScreeningFile.replace(paths.progress, with: record.text) }
        try good.resume(at: record.bytes[0])
        try invalid.resume(at: record.bytes[1])
        try rest.resume(at: record.bytes[2])
        (self.paths, self.record, isResumed) = (paths, record, found != nil)
        self.good = good
        self.invalid = invalid
        self.rest = rest
    }

    private static func found(
        _ path: String, _ fresh: ScreeningRecord, _ paths: Paths
    ) throws(CommandFailure) -> ScreeningRecord? {
        guard TextFile.exists(path) else { return nil }
        guard let found = ScreeningRecord(try TextFile.read(path)) else {
            throw .usage("\(path): cannot be read; --anew begins again")
        }
        guard found.app == fresh.app else {
            throw .usage("\(path) is of app \(found.app); --anew begins again")
        }
        guard found.fingerprint == fresh.fingerprint else {
            throw .usage("\(paths.tokens) has changed since its screening began; --anew begins again")
        }
        return found
    }

    mutating func add(_ token: String, _ verdict: ScreeningVerdict) {
        let line = verdict.line(token)
        switch verdict {
        case .good: good.add(line)
        case .invalid: invalid.add(line)
        case .open: rest.add(line)
        }
        record.tally.add(verdict)
    }

    /// Makes all that was added count.
    mutating func commit(done: NumberRanges, since: String) throws(CommandFailure) {
        try good.flush()
        try invalid.flush()
        try rest.flush()
        record.bytes = [good.count, invalid.count, rest.count]
        (record.done, record.since) = (done, since)
        try ScreeningFile.replace(paths.progress, with: record.text)
    }
}
