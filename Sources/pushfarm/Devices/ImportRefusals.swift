/// The file with the records of an import that are not valid device inputs.
///
/// Before each record, a remark names its line and the fault. An import skips these remarks, so the file can be corrected
/// and imported.
struct ImportRefusals {
    /// The start of a remark.
    static let remark = Array("# line ".utf8)

    private let file: ResumableFile
    private let header: [UInt8]?

    /// - Parameters:
    ///   - file: the file, which may have records of an interrupted import.
    ///   - header: the header of CSV, which is the first line of the file; nil for another format.
    init(_ file: ResumableFile, header: [UInt8]?) { (self.file, self.header) = (file, header) }

    var path: String { file.path }
    /// The size of the part of the file that is saved.
    var byteCount: Int { file.count }

    func add(_ record: ImportRecords.Record, _ fault: ImportFault) {
        if file.isEmpty, let header { file.add(header) }
        let field = fault.field.isEmpty ? "" : ", \(PlainText.of(fault.field, limit: 64))"
        let reason = PlainText.of(fault.reason, limit: 400)
        file.add(Self.remark + Array("\(record.line)\(field): \(reason)".utf8))
        file.add(record.raw)
    }

    func save() throws(CommandFailure) { try file.flush() }
}
