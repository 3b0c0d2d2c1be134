import ArgumentParser
import EventLoop

struct FsckCommand: FarmCommand {
    static let configuration = CommandConfiguration(
        commandName: "fsck",
        abstract: "Checks the farm's counts, and stored devices.",
        discussion: """
            The command checks that the counts of all pushes and jobs add up. It also
            compares the records of stored devices with their indexes, bitmaps and counts,
            and the counts of campaigns with the bits of their devices. The farm may run
            during the check. The exit status is 1 when the check finds errors.

            With --repair, the command returns sendable pushes to their queue, quarantines
            unreadable data, and fails lost pushes with the reason "lost", so that no push
            stays open forever. The quarantined data is kept, and "pushfarm status" reports
            it until the option --drop-unreadable deletes it.

            For stored devices, --repair corrects indexes, bitmaps, counts and free
            ordinals so that they agree with the records. It does not change records: a
            record that cannot be read, and a token that two records have, stay as they
            are. It does not change campaigns either.

            Example:
              pushfarm debug fsck
              pushfarm debug fsck --app demo --repair
            """)

    @OptionGroup(title: CommonOptions.title) var common: CommonOptions

    @Option(
        help: ArgumentHelp("Checks only this app; --repair needs an app or \"all\".", valueName: "name"),
        completion: .apps)
    var app: String?

    @Flag(help: "Repairs the errors that the check finds.")
    var repair = false

    @Flag(help: "Deletes the quarantined unreadable data.")
    var dropUnreadable = false

    func validate() throws {
        if repair || dropUnreadable, app == nil {
            throw ValidationError("Name the app with --app, or all apps with --app all.")
        }
    }

    /// The result for one app.
    private struct Finding: Sendable {
        let app: String
        let faults: [String]
        let repaired: [String]
        /// The faults that remain after a repair.
        let remaining: [String]
        /// The number of unreadable reports and job records whose original data Redis keeps.
        let kept: Int
        let areDropped: Bool

        var json: JSONValue {
            .object([
                "app": .string(app), "faults": .strings(faults),
                "repaired": .strings(repaired), "left": .strings(remaining),
                "unreadable": .number(kept), "dropped": .bool(areDropped),
            ])
        }

        var text: String { accounting + keptWords }

        private var keptWords: String {
            guard kept > 0 else { return "" }
            let items = kept == 1 ? "1 item" : "\(kept) items"
            return areDropped
                ? "\(app): the originals of \(items) that cannot be read are dropped\n"
                : "\(app): \(items) could not be read; the originals are kept until fsck --drop-unreadable\n"
        }

        private var accounting: String {
            guard !faults.isEmpty else { return "\(app): the accounting is exact\n" }
            let count = faults.count == 1 ? "1 fault" : "\(faults.count) faults"
            var text = "\(app): \(count)\n" + faults.map { "  \($0)\n" }.joined()
            guard !repaired.isEmpty else { return text }
            text += "repaired:\n" + repaired.map { "  \($0)\n" }.joined()
            text +=
                remaining.isEmpty
                ? "the accounting is exact now\n" : "left:\n" + remaining.map { "  \($0)\n" }.joined()
            return text
        }
    }

    func run(_ client: FarmClient, _ console: Console) async throws {
        let shards = try await client.shards()
        var findings: [Finding] = []
        for name in try await client.apps(selectedBy: app == "all" ? nil : app) {
            let check = AppCheck(app: name, shards: shards, client: client)
            let faults = try await check.faults()
            let repaired = repair && !faults.isEmpty ? try await check.repair() : []
            let remaining = repaired.isEmpty ? faults : try await check.faults()
            let kept = try await check.unreadableCount()
            if dropUnreadable, kept > 0 { try await check.dropUnreadable() }
            findings.append(
                Finding(
                    app: name, faults: faults, repaired: repaired, remaining: remaining, kept: kept,
                    areDropped: dropUnreadable && kept > 0))
        }
        console.show(.object(["apps": .array(findings.map(\.json))]), findings.map(\.text).joined())
        if !findings.allSatisfy({ repair ? $0.remaining.isEmpty : $0.faults.isEmpty }) {
            throw CommandFailure.failed()
        }
    }
}
