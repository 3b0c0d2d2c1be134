import Campaigns
import EventLoop
import PushModel
import StoreProtocol

/// Uploads the rows of a file as a list. Campaigns can use the list only after the whole upload.
@Loop final class ListUpload {
    struct Plan {
        let name: String
        let parser: ListRowParser
        /// Identifies the file and the choice of its columns; nil if it is unknown.
        let fingerprint: String?
        /// Whether to validate the rows without uploading them.
        let isDryRun: Bool
    }

    /// The upload writes finished pages as soon as they have this number of bytes, and all pages when the open pages have more
    /// than the second number of bytes.
    private static let portions = (finished: 1 << 20, open: 32 << 20)
    private static let showInterval = Duration.milliseconds(200)

    private let store: ListStore
    private let plan: Plan
    private let refusals: ListRefusals
    private var builder = ListBuilder()
    private var bar: ProgressLine
    private var shown = ContinuousClock.now

    init(_ plan: Plan, store: ListStore, refusals: ListRefusals, bar: ProgressLine) {
        (self.plan, self.store, self.refusals, self.bar) = (plan, store, refusals, bar)
    }

    /// Uploads the file.
    ///
    /// - Parameter isEnded: whether the operator has interrupted the command.
    /// - Returns: the list.
    func run(
        _ records: consuming ImportRecords, isEnded: () -> Bool
    ) async throws(CommandFailure) -> UploadedList {
        defer { bar.finish() }
        var list = try await begin()
        do throws(CommandFailure) {
            while let record = try records.next() {
                take(record)
                if builder.finishedBytes >= Self.portions.finished
                    || builder.openBytes >= Self.portions.open
                {
                    try await write(list)
                }
                await show(records.offset)
                guard !isEnded() else {
                    throw .temporary(
                        plan.fingerprint == nil || plan.isDryRun
                            ? "interrupted: nothing is uploaded; run the same command again"
                            : "interrupted: run the same command again to continue")
                }
            }
            try refusals.save()
            guard builder.rows > 0 else { throw .failed("the file has no valid row: nothing is uploaded") }
            (list.groups, list.columns) = (builder.listGroups, builder.listColumns)
            (list.duplicates, list.refused) = (builder.duplicates, refusals.count)
            return plan.isDryRun ? list : try await finish(list)
        } catch {
            // The same command can continue after an interruption, or when Redis can be reached again. Otherwise the pages and the
            // unfinished list expire within a day.
            let continues =
                plan.fingerprint != nil && error.status == .temporary
                && error.message != ListStore.lost.message
            if !plan.isDryRun, !continues { try? await store.remove(unfinished: list) }
            throw error
        }
    }

    /// Checks that the list may be uploaded, and notes that its upload has begun. If an earlier command that was killed uploaded the
    /// same file, this upload continues with the pages of that command.
    private func begin() async throws(CommandFailure) -> UploadedList {
        let now = try await store.client.clock().clampedMilliseconds
        let known = try await store.lists()
        let earlier = known[plan.name].flatMap { old in
            old.state == .uploading && plan.fingerprint != nil && old.fingerprint == plan.fingerprint
                ? old.version : nil
        }
        let list = UploadedList(
            name: plan.name, version: earlier ?? JobDraft.freshID(), state: .uploading,
            by: OperatorName.current, at: now,
            expiresAt: now + Int64(UploadedList.uploadSeconds) * 1_000, fingerprint: plan.fingerprint)
        if let old = known[plan.name], old.state == .ready {
            throw .failed(
                "\(store.app) already has a list \(plan.name) with \(Figures.grouped(old.rows)) rows: "
                    + "choose another name, or remove it with pushfarm lists remove")
        }
        guard !known.unreadable.contains(plan.name) else {
            throw .failed("\(store.app) already has a list \(plan.name), which cannot be read")
        }
        let others = known.lists.count { $0.name != plan.name } + known.unreadable.count
        guard others < UploadedList.most else {
            throw .failed("\(store.app) has \(others) lists: remove one with pushfarm lists remove")
        }
        guard !plan.isDryRun else { return list }
        for name in known.expired { try await store.remove(name, version: nil) }
        try await store.save(list)
        if earlier == nil, let old = known[plan.name] { try await store.removePages(of: old.version) }
        return list
    }

    private func take(_ record: ImportRecords.Record) {
        switch record.input {
        case .failure(let fault): refusals.add(record, fault)
        case .success(let json):
            do throws(ListRowError) { try builder.add(try plan.parser.parse(json)) } catch {
                refusals.add(record, ImportFault(error.reason, field: error.field))
            }
        }
    }

    private func write(_ list: UploadedList) async throws(CommandFailure) {
        let pieces =
            builder.openBytes >= Self.portions.open ? builder.takeAll() : builder.takeFinished()
        try refusals.save()
        guard !pieces.isEmpty, !plan.isDryRun else { return }
        try await store.write(pieces, of: list.version)
    }

    private func show(_ offset: Int) async {
        guard ContinuousClock.now - shown >= Self.showInterval else { return }
        shown = .now
        bar.update(
            offset,
            note: "\(Figures.grouped(builder.rows)) rows, \(Figures.grouped(refusals.count)) refused")
        // A dry run waits for no reply of Redis. So without this call, the loop would not notice Control-C.
        await Loop.poll()
    }

    /// Makes the list ready.
    private func finish(_ uploaded: UploadedList) async throws(CommandFailure) -> UploadedList {
        var list = uploaded
        try await store.write(builder.takeAll(), of: list.version)
        try await store.keep(list, seconds: UploadedList.keepSeconds)
        let now = try await store.client.clock().clampedMilliseconds
        list.state = .ready
        list.expiresAt = now + Int64(UploadedList.keepSeconds) * 1_000
        guard try await store.lists()[list.name]?.version == list.version else {
            throw .failed("another upload or a removal of the list \(list.name) has begun meanwhile")
        }
        try await store.save(list)
        return list
    }
}
