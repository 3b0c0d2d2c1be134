/// The rows of an upload that are not valid: their number, the first faults, and a file with all of them.
final class ListRefusals {
    /// The most faults to keep for printing.
    private static let printed = 20

    let path: String?
    private(set) var count = 0
    /// The first faults, with the numbers of their lines.
    private(set) var faults: [(line: Int, fault: ImportFault)] = []
    private let file: ImportRefusals?

    /// Creates the file of refused rows, or replaces it.
    ///
    /// - Parameters:
    ///   - path: nil if the first faults are printed.
    ///   - input: the path of the uploaded file.
    ///   - header: the header of CSV; nil for another format.
    init(_ path: String?, input: String, header: [UInt8]?) throws(CommandFailure) {
        self.path = path
        guard let path else {
            file = nil
            return
        }
        let file = try ResumableFile(path, of: "upload")
        guard !file.isSame(as: input) else {
            throw .usage("the file for refused rows is the same file as the uploaded file")
        }
        try file.resume(at: 0)
        self.file = ImportRefusals(file, header: header)
    }

    func add(_ record: ImportRecords.Record, _ fault: ImportFault) {
        count += 1
        if faults.count < Self.printed { faults.append((record.line, fault)) }
        file?.add(record, fault)
    }

    /// Writes the refused rows to the disk.
    func save() throws(CommandFailure) { try file?.save() }

    /// Removes the file if it has no rows.
    func finish() throws(CommandFailure) {
        if count == 0, let path { try TextFile.remove(path) }
    }
}
