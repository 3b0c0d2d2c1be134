import PushModel

/// The files that an import writes: its state, and the records that are not valid device inputs.
final class DeviceImportFiles {
    struct Paths: Sendable {
        let input: String
        /// The file of refused records; nil: the first faults are printed.
        let refused: String?
        /// The state file; nil if the import cannot continue, because it reads standard input.
        let state: String?
    }

    /// The most faults to print.
    private static let printed = 20

    private(set) var progress: DeviceImportProgress
    /// Whether an interrupted import is continued.
    let isResumed: Bool
    /// The first faults, with the numbers of their lines.
    private(set) var faults: [(line: Int, fault: ImportFault)] = []
    /// Refused records since the last ``advance(to:pushed:)``.
    private var pending: [(record: ImportRecords.Record, fault: ImportFault)] = []
    private let paths: Paths
    private let refusals: ImportRefusals?

    /// Opens the files of an interrupted import, or creates new files.
    ///
    /// - Parameters:
    ///   - fresh: the state of a new import.
    ///   - header: the header of CSV; nil for another format.
    ///   - startOver: whether to replace the files of an interrupted import.
    init(
        _ paths: Paths, fresh: DeviceImportProgress, header: [UInt8]?, startOver: Bool
    ) throws(CommandFailure) {
        let named = [paths.input, paths.refused, paths.state].compactMap { $0 }
        guard Set(named).count == named.count else { throw .usage("two of the options name the same file") }
        let found = startOver ? nil : try Self.found(fresh, paths)
        (self.paths, progress, isResumed) = (paths, found ?? fresh, found != nil)
        guard let path = paths.refused else {
            refusals = nil
            return
        }
        let file = try ResumableFile(path, of: "import")
        guard !file.isSame(as: paths.input) else {
            throw .usage("the file for refused records is the same file as the imported file")
        }
        if found == nil, !startOver, file.size > 0 {
            throw .usage("\(path) already exists; --start-over replaces this file")
        }
        refusals = ImportRefusals(file, header: header)
        // The state file is written before the file of refused records, because a new import refuses to replace a file
        // of refused records that has no state file.
        try writeState()
        try file.resume(at: progress.refusedBytes)
    }

    private static func found(
        _ fresh: DeviceImportProgress, _ paths: Paths
    ) throws(CommandFailure) -> DeviceImportProgress? {
        guard let path = paths.state, TextFile.exists(path) else { return nil }
        guard let found = DeviceImportProgress(try TextFile.read(path)) else {
            throw .usage("\(path): cannot be read; use --start-over to replace this file")
        }
        guard found.app == fresh.app, found.format == fresh.format else {
            throw .usage(
                "\(path) belongs to an import for the app \(found.app) in the format \(found.format.rawValue); use --start-over to replace it"
            )
        }
        guard found.fingerprint == fresh.fingerprint else {
            throw .usage("\(paths.input) has changed since its import began; use --start-over to begin again")
        }
        return found
    }

    var refusedPath: String? { paths.refused }

    func refuse(_ record: ImportRecords.Record, _ fault: ImportFault) {
        pending.append((record, fault))
    }

    /// The number of refused records since the last ``advance(to:pushed:)``.
    var pendingCount: Int { pending.count }

    /// Notes that all records before this position of the file are pushed or refused.
    func advance(to place: (offset: Int, lines: Int), pushed: Int) {
        (progress.offset, progress.lines) = place
        progress.pushed += pushed
        for (record, fault) in pending {
            progress.refused += 1
            if faults.count < Self.printed { faults.append((record.line, fault)) }
            refusals?.add(record, fault)
        }
        pending.removeAll(keepingCapacity: true)
    }

    /// Saves the refused records and then the state.
    func save() throws(CommandFailure) {
        try refusals?.save()
        progress.refusedBytes = refusals?.byteCount ?? 0
        try writeState()
    }

    /// Removes the state file of a complete import, and the file of refused records if no record was refused.
    func finish() throws(CommandFailure) {
        try paths.state.map { path throws(CommandFailure) in try TextFile.remove(path) }
        if progress.refused == 0 {
            try paths.refused.map { path throws(CommandFailure) in try TextFile.remove(path) }
        }
    }

    private func writeState() throws(CommandFailure) {
        guard let path = paths.state else { return }
        var sink = try TextSink(path)
        try sink.write(bytes: Array(progress.text.utf8))
        try sink.finish()
    }
}
