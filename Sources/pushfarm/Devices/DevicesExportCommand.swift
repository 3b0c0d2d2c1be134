import ArgumentParser
import EventLoop
import RedisClient
import Registry
import StoreProtocol

struct DevicesExportCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Exports all stored devices to a file.",
        discussion: """
            NDJSON has one device on each line, in the form that "pushfarm devices import"
            reads. CSV has a header and one device in each record. A CSV record cannot have
            several tokens, so the export to CSV fails when a device has several. The file
            appears when the export is complete. A device that is registered, changed or
            removed during the export may be in the file or may be missing. An import
            of the file restores all devices with their times.

            Example:
              pushfarm devices export devices.ndjson --app demo
              pushfarm devices export devices.csv --app demo
              pushfarm devices export - --format ndjson --app demo | gzip > devices.gz

            The exit status is 3 when device records in Redis cannot be read.
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions
    @OptionGroup var choice: DeviceAppOptions

    @Argument(help: "The file, or \"-\" for standard output.")
    var file: String

    @Option(
        help: ArgumentHelp(
            "The format: csv or ndjson. Default: the format that the file's ending names: .csv, .ndjson, .jsonl or .json.",
            valueName: "format"))
    var format: String?

    func validate() throws {
        if let format, ImportFormat(rawValue: format) == nil {
            throw ValidationError("--format must be csv or ndjson.")
        }
        guard fileFormat != nil else { throw ValidationError("Give --format csv or --format ndjson.") }
    }

    /// The format that `--format` or the file's ending says.
    private var fileFormat: ImportFormat? {
        format.map { ImportFormat(rawValue: $0) } ?? ImportFormat(ending: file)
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        guard let format = fileFormat else { return }
        let app = try await client.chosenApp(choice.app)
        let reader = try await client.registry(of: app)
        let partitions = try await client.read { () throws(StoreError) in try await reader.partitions() }
        var sink = try TextSink(file == "-" ? nil : file)
        let writer = DeviceFileWriter(format: format)
        if let header = writer.header { try sink.write(header) }
        let all = partitions.reduce(0) { $0 + $1.devices }
        var progress = ProgressLine("exporting", total: all, quiet: common.json || file == "-")
        defer { progress.finish() }
        var (written, tokenless, unreadable) = (0, 0, 0)
        var scan = DeviceScan(reader, partitions)
        while let page = try await next(&scan, client) {
            for device in page.devices { try sink.write(bytes: try writer.line(of: device.record)) }
            written += page.devices.count
            tokenless += page.devices.count { !$0.record.isAlive }
            unreadable += page.unreadable.count
            progress.update(written)
        }
        try sink.finish()
        progress.finish()
        if file != "-" {
            console.show(
                .object([
                    "app": .string(app), "exported": .number(written), "without_token": .number(tokenless),
                    "unreadable": .number(unreadable),
                ]),
                "\(Figures.counted(written, "device", "devices")) exported"
                    + (tokenless > 0 ? ", \(Figures.grouped(tokenless)) without a token" : "") + "\n")
        }
        guard unreadable == 0 else {
            throw CommandFailure(
                status: .partly,
                message: Figures.counted(unreadable, "record", "records") + " cannot be read")
        }
    }

    @Loop private func next(
        _ scan: inout DeviceScan, _ client: FarmClient
    ) async throws(CommandFailure) -> DevicePage? {
        do { return try await scan.next() } catch { throw client.failure(error) }
    }
}
