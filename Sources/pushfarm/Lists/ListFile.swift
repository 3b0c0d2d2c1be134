import Campaigns
import EventLoop
import FarmLogging
import POSIX
import PushModel
import Scheduling

/// A file whose rows are uploaded as a list.
struct ListFile: Sendable {
    /// The result of an upload.
    struct Upload {
        let list: UploadedList
        /// The path of the file with the refused rows; nil if the first faults are printed.
        let refusedPath: String?
        /// The first faults of rows, if no file has them.
        let faults: [(line: Int, fault: ImportFault)]
        /// Whether an earlier command uploaded the same file.
    }

    /// `-` means standard input.
    let path: String
    private let format: ImportFormat
    private let options: ListFileOptions

    /// Checks that the file can be read, and that a CSV file has the required columns.
    init(_ path: String, _ options: ListFileOptions) throws(CommandFailure) {
        try TextFile.check(readable: path)
        let named = options.format.flatMap(ImportFormat.init(rawValue:))
        guard let format = named ?? ImportFormat(ending: path) else {
            throw .usage("\(path): give --format csv or --format ndjson")
        }
        (self.path, self.format, self.options) = (path, format, options)
        if path != "-" { _ = try records() }
    }

    private func records() throws(CommandFailure) -> ImportRecords {
        let required = options.requiredColumns
        return try ImportRecords.open(path, format: format) { header throws(ImportFault) in
            try ListColumns(header, required: required)
        }
    }

    /// A hash of the file and of the options that select its columns, in hexadecimal; nil for a file that cannot be read twice.
    private func fingerprint() throws(CommandFailure) -> String? {
        guard path != "-" else { return nil }
        let file = try InputFile(path)
        guard file.byteCount != nil else { return nil }
        var hash = XXH64(seed: 0)
        for word in [format.rawValue, options.columns.token, options.columns.lang, options.columns.zone] {
            Array(word.utf8).withUnsafeBytes { hash.update($0) }
            hash.update(0)
        }
        var bytes: [UInt8] = []
        while try file.read(into: &bytes) > 0 {
            bytes.withUnsafeBytes { hash.update($0) }
            bytes.removeAll(keepingCapacity: true)
        }
        return String(hash.digest, radix: 16)
    }

    /// Uploads the file.
    ///
    /// - Parameters:
    ///   - reuses: whether a list that was uploaded under this name from the same file is used, instead of a failure.
    ///   - end: the operator's interruption of the command.
    @Loop func upload(
        as name: String, to store: ListStore, isDryRun: Bool, reuses: Bool, quiet: Bool, until end: EndSignal
    ) async throws(CommandFailure) -> Upload {
        let fingerprint = try fingerprint()
        if reuses, fingerprint != nil, let list = try await store.lists()[name], list.state == .ready,
            list.fingerprint == fingerprint
        {
            return Upload(list: list, refusedPath: refusedPath(isDryRun: false), faults: [])
        }
        let records = try records()
        let refusals = try ListRefusals(
            refusedPath(isDryRun: isDryRun), input: path, header: records.header)
        let upload = ListUpload(
            .init(
                name: name, parser: ListRowParser(options.columns, zoneFault: Self.zoneFault()),
                fingerprint: fingerprint, isDryRun: isDryRun),
            store: store, refusals: refusals,
            bar: ProgressLine(
                isDryRun ? "validating" : "uploading", total: records.byteCount ?? 0, quiet: quiet,
                plainPause: .seconds(10)))
        do {
            let list = try await upload.run(records) { end.isGiven }
            if !isDryRun {
                try await store.client.note(["lists", "upload", name, "--app", store.app], "uploaded")
            }
            try refusals.finish()
            return Upload(
                list: list, refusedPath: refusals.path, faults: refusals.path == nil ? refusals.faults : [])
        } catch {
            if refusals.path == nil { Self.print(refusals.faults) }
            throw error
        }
    }

    private func refusedPath(isDryRun: Bool) -> String? {
        isDryRun ? nil : options.refused ?? (path == "-" ? nil : path + ".refused")
    }

    /// Returns a function that returns why a text is not the name of a time zone of this machine.
    private static func zoneFault() -> (String) -> String? {
        let zones = ZoneCatalog { path in try? SmallFile.read(path) }
        // The search for a similar name is slow, and many rows may have the same wrong name.
        var known: [String: String?] = [:]
        return { name in
            if let fault = known[name] { return fault }
            var fault: String?
            do throws(ZoneError) { _ = try zones.rules(name) } catch { fault = error.description }
            if known.count < UploadedList.mostGroups { known[name] = .some(fault) }
            return fault
        }
    }

    /// Prints the first faults.
    static func print(_ faults: [(line: Int, fault: ImportFault)]) {
        for (line, fault) in faults {
            let field = fault.field.isEmpty ? "" : ", \(fault.field)"
            let text = PlainText.screened("line \(line)\(field): \(fault.reason)\n")
            Terminal.write(text, to: Terminal.standardError)
        }
    }
}

/// The result of an upload in the output of commands.
extension ListFile.Upload {
    func json(app: String, isDryRun: Bool) -> JSONValue {
        .object([
            "app": .string(app), "name": .string(list.name), "rows": .number(list.rows),
            "zones": .counts(list.rowsByZone), "without_zone": .number(list.rowsWithoutZone),
            "duplicates": .number(list.duplicates), "refused": .number(list.refused),
            "refused_file": .text(list.refused > 0 ? refusedPath : nil), "dry_run": .bool(isDryRun),
        ])
    }

    /// One line.
    func text(app: String, isDryRun: Bool) -> String {
        let place = refusedPath.map { " (see \($0))" } ?? ""
        var text = "\(app): list \(list.name) \(isDryRun ? "would have" : "has") "
        text += "\(Figures.counted(list.rows, "row", "rows")) in "
        text += Figures.counted(list.groups.count { $0.zone != nil }, "time zone", "time zones")
        if list.duplicates > 0 {
            text += ", \(Figures.counted(list.duplicates, "duplicate", "duplicates")) left out"
        }
        if list.refused > 0 {
            text += ", \(Figures.counted(list.refused, "row", "rows")) refused\(place)"
        }
        return text + "\n"
    }
}
