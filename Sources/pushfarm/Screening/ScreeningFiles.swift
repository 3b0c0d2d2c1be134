import Foundation

/// The files of a screening: good, invalid and undecided tokens, and the progress.
final class ScreeningFiles {
    struct Paths: Sendable {
        var tokens: String
        var good: String
        var invalid: String
        var rest: String
        /// The path of the progress file.
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
    /// The files of good, invalid and undecided tokens.
    private let files: [ResumableFile]
    private(set) var record: ScreeningRecord
    /// Whether this process continues the files of an earlier process.
    let isResumed: Bool

    /// Opens the files of an earlier process, or creates new files.
    ///
    /// - Parameters:
    ///   - fresh: the record for a new screening.
    ///   - startOver: whether to replace the files of an earlier process.
    init(_ paths: Paths, fresh: ScreeningRecord, startOver: Bool) throws(CommandFailure) {
        guard Set([paths.tokens, paths.good, paths.invalid, paths.rest, paths.progress]).count == 5 else {
            throw .usage("two of the options name the same file")
        }
        var files: [ResumableFile] = []
        for path in [paths.good, paths.invalid, paths.rest] {
            files.append(try ResumableFile(path, of: "screening"))
        }
        guard !files.contains(where: { $0.isSame(as: paths.tokens) }) else {
            throw .usage("an output file is the same file as the token list \(paths.tokens)")
        }
        let found = startOver ? nil : try Self.found(paths.progress, fresh, paths)
        if found == nil, !startOver, let used = files.first(where: { $0.size > 0 }) {
            throw .usage("\(used.path) already exists; --start-over replaces this file")
        }
        (self.paths, self.files, record, isResumed) = (paths, files, found ?? fresh, found != nil)
        // The record is written before any token, because the next start refuses output files without a
        // progress record.
        if found == nil { try writeRecord() }
        for (file, count) in zip(files, record.bytes) { try file.resume(at: count) }
    }

    private static func found(
        _ path: String, _ fresh: ScreeningRecord, _ paths: Paths
    ) throws(CommandFailure) -> ScreeningRecord? {
        guard TextFile.exists(path) else { return nil }
        guard let found = ScreeningRecord(try TextFile.read(path)) else {
            throw .usage("\(path): cannot be read; use --start-over to replace this file")
        }
        guard found.app == fresh.app else {
            throw .usage(
                "\(path) belongs to a screening of the app \(found.app); use --start-over to replace it")
        }
        guard found.fingerprint == fresh.fingerprint else {
            throw .usage(
                "\(paths.tokens) has changed since its screening began; use --start-over to begin again")
        }
        return found
    }

    func add(_ token: String, _ verdict: ScreeningVerdict) {
        let file =
            switch verdict {
            case .good: files[0]
            case .invalid: files[1]
            case .undecided: files[2]
            }
        file.add(Array(verdict.line(token).utf8))
        record.tally.add(verdict)
    }

    /// Saves all added lines and the progress.
    func commit(done: RangeSet<Int>, since: String) throws(CommandFailure) {
        for file in files { try file.flush() }
        record.bytes = files.map(\.count)
        (record.done, record.since) = (done, since)
        try writeRecord()
    }

    private func writeRecord() throws(CommandFailure) {
        var sink = try TextSink(paths.progress)
        try sink.write(bytes: Array(record.text.utf8))
        try sink.finish()
    }
}
