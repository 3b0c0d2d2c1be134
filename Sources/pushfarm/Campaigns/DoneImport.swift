import Campaigns
import EventLoop
import StoreProtocol

/// Reports the devices of a file as done with a campaign.
///
/// A report that is repeated changes nothing. So after an interruption, the same command begins again at the start of the file.
@Loop final class DoneImport {
    struct Plan: Sendable {
        let app: String
        let campaign: String
        /// The import waits while the list `done` has this many reports.
        let backlog: Int
        /// How long the import waits for room in the list.
        let timeout: Duration
        /// Whether to validate the ids without pushing them.
        let isDryRun: Bool
    }

    /// The number of devices of a report.
    static let page = 1_000

    private let client: FarmClient
    private let plan: Plan
    private let refusals: ListRefusals
    private var bar: ProgressLine
    private var waiting: [String] = []
    /// The number of ids that were pushed or, in a dry run, are valid.
    private(set) var pushed = 0

    init(client: FarmClient, plan: Plan, refusals: ListRefusals, bar: ProgressLine) {
        (self.client, self.plan, self.refusals, self.bar) = (client, plan, refusals, bar)
        waiting.reserveCapacity(Self.page)
    }

    /// - Parameter isEnded: whether the operator has interrupted the command.
    /// - Throws: a temporary failure when the command must be run again.
    func run(
        _ records: consuming ImportRecords, of file: DeviceIDFile, isEnded: () -> Bool
    ) async throws(CommandFailure) {
        defer { bar.finish() }
        while let record = try records.next() {
            do throws(ImportFault) { waiting.append(try file.id(of: record)) } catch {
                refusals.add(record, error)
            }
            guard waiting.count >= Self.page else { continue }
            try await push(isEnded)
            bar.update(records.offset, note: counts)
        }
        try await push(isEnded)
        try refusals.save()
    }

    private var counts: String {
        "\(Figures.grouped(pushed)) devices, \(Figures.grouped(refusals.count)) refused"
    }

    private func push(_ isEnded: () -> Bool) async throws(CommandFailure) {
        guard !isEnded() else { throw Self.interrupted }
        guard !waiting.isEmpty else { return }
        if !plan.isDryRun {
            try await waitForRoom(isEnded)
            let report = DoneReport(campaign: plan.campaign, devices: waiting)
            _ = try await client.call(PushInputs(.done, [report.json]), plan.app)
        }
        pushed += waiting.count
        waiting.removeAll(keepingCapacity: true)
    }

    private func waitForRoom(_ isEnded: () -> Bool) async throws(CommandFailure) {
        let deadline = ContinuousClock.now + plan.timeout
        while true {
            let count = try await client.call(CountInputs(.done), plan.app)
            if count < plan.backlog { return }
            guard !isEnded() else { throw Self.interrupted }
            guard ContinuousClock.now < deadline else {
                throw .temporary(
                    "\(plan.app) has \(Figures.grouped(count)) done reports that the farm has not taken; run the "
                        + "same command again later")
            }
            do { try await Loop.sleep(for: .milliseconds(100)) } catch { throw Self.interrupted }
        }
    }

    private static let interrupted = CommandFailure.temporary("interrupted; run the same command again")
}
