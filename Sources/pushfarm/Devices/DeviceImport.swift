import EventLoop
import PushModel
import Registry
import StoreProtocol

/// Imports a file of devices: validates each record, and pushes the valid records to the list of device inputs.
///
/// The state file contains the position up to which all records were pushed or refused. If the import is killed, the
/// next run pushes the records of the last second again. The repeated records do not change the devices.
@Loop final class DeviceImport {
    struct Plan: Sendable {
        var app: String
        var rules: DeviceInputRules
        /// The import waits while the list has more device inputs than this.
        var backlog: Int
        /// How long the import waits for room in the list.
        var timeout: Duration
        /// Whether to validate the records without pushing them.
        var isDryRun: Bool
    }

    /// The import pushes records as soon as it has read this many records or bytes since its last push.
    private static let portion = (inputs: 500, bytes: 256 << 10)
    private static let saveInterval = Duration.seconds(1)

    private let client: FarmClient
    private let plan: Plan
    private let files: DeviceImportFiles
    private var bar: ProgressLine
    private var waiting: [[UInt8]] = []
    private var waitingBytes = 0
    private var saved = ContinuousClock.now

    init(client: FarmClient, plan: Plan, files: DeviceImportFiles, bar: ProgressLine) {
        (self.client, self.plan, self.files, self.bar) = (client, plan, files, bar)
    }

    /// Imports the rest of the file.
    ///
    /// - Parameter isEnded: whether the operator has interrupted the command.
    /// - Throws: a temporary failure when the command must be run again.
    func run(_ records: consuming ImportRecords, isEnded: () -> Bool) async throws(CommandFailure) {
        defer { bar.finish() }
        var place = (offset: records.offset, lines: records.lines)
        while let record = try records.next() {
            take(record)
            place = (records.offset, records.lines)
            let count = waiting.count + files.pendingCount
            guard count >= Self.portion.inputs || waitingBytes >= Self.portion.bytes else { continue }
            try await push(upTo: place, isEnded: isEnded)
        }
        place = (records.offset, records.lines)
        try await push(upTo: place, isEnded: isEnded)
        try files.save()
    }

    private func take(_ record: ImportRecords.Record) {
        waitingBytes += record.raw.count
        let raw: [UInt8]
        switch record.input {
        case .failure(let fault): return files.refuse(record, fault)
        case .success(let input): raw = input
        }
        do throws(DeviceInputError) { _ = try DeviceInputParser.parse(raw, rules: plan.rules) } catch {
            return files.refuse(record, ImportFault(error.reason, field: error.field))
        }
        waiting.append(raw)
    }

    private func push(
        upTo place: (offset: Int, lines: Int), isEnded: () -> Bool
    ) async throws(CommandFailure) {
        if !waiting.isEmpty, !plan.isDryRun { try await pushWhenThereIsRoom(isEnded) }
        files.advance(to: place, pushed: waiting.count)
        waiting.removeAll(keepingCapacity: true)
        waitingBytes = 0
        if ContinuousClock.now - saved >= Self.saveInterval {
            try files.save()
            saved = .now
        }
        show(place.offset)
        if isEnded() { throw interrupted() }
    }

    private func pushWhenThereIsRoom(_ isEnded: () -> Bool) async throws(CommandFailure) {
        let deadline = ContinuousClock.now + plan.timeout
        while true {
            let count: Int
            do throws(CommandFailure) { count = try await client.call(CountInputs(.devices), plan.app) } catch
            {
                throw keepPlace(error)
            }
            if count < plan.backlog { break }
            guard !isEnded() else { throw interrupted() }
            guard ContinuousClock.now < deadline else {
                throw keepPlace(
                    .temporary(
                        "\(plan.app) has \(Figures.grouped(count)) device inputs that the farm has not taken; run "
                            + "the same command again later"))
            }
            show(files.progress.offset, "waits for the farm")
            do { try await Loop.sleep(for: .milliseconds(100)) } catch { throw interrupted() }
        }
        do throws(CommandFailure) { _ = try await client.call(PushInputs(.devices, waiting), plan.app) } catch
        {
            throw keepPlace(error)
        }
    }

    private func show(_ offset: Int, _ note: String? = nil) {
        let progress = files.progress
        let counts =
            "\(Figures.grouped(progress.pushed)) devices, \(Figures.grouped(progress.refused)) refused"
        bar.update(offset, note: note ?? counts)
    }

    private func interrupted() -> CommandFailure {
        keepPlace(.temporary("interrupted; run the same command again to continue"))
    }

    /// Saves the state before the command fails.
    private func keepPlace(_ failure: CommandFailure) -> CommandFailure {
        do throws(CommandFailure) { try files.save() } catch { return error }
        return failure
    }
}
