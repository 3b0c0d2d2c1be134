import EventLoop
import FarmConfiguration
import Foundation
import StoreProtocol

/// Sends or drops dead letters of one app or of all, and says what came of it.
struct ReplayRun: Sendable {
    let configuration: Configuration
    /// Nil: all.
    let app: String?
    let settings: ReplayAct.Settings
    let console: Console

    @Loop func perform() async throws(CommandFailure) {
        let client = try await FarmClient.connect(configuration)
        defer { client.close() }
        let end = EndSignal()
        // Each step is whole or has not been.
        end.onImpatience = { exit(ExitStatus.partly.rawValue) }
        let apps = try await client.apps(meant: app)
        let now = try await client.clock().components.seconds
        var total = 0
        for name in apps { total += try await client.call(CountDeadLetters(), name).pushes }
        var progress = ProgressLine("pushes", total: min(total, settings.limit ?? total), quiet: console.json)
        var done: [(app: String, outcome: ReplayAct.Outcome)] = []
        for name in apps where !end.isGiven {
            var settings = settings
            let before = done.reduce(0) { $0 + $1.outcome.pushes + $1.outcome.pushesBefore }
            if let limit = settings.limit { settings.limit = limit - before }
            guard settings.limit ?? 1 > 0 else { break }
            if let life = configuration.app(named: name)?.deadLetters.days, !settings.isDropping {
                settings.life = life * 86_400
            }
            let act = ReplayAct(DeadLetterStore(client: client, app: name), settings, now: now, end: end)
            act.progress = { progress.update(before + $0.pushes) }
            let outcome: ReplayAct.Outcome
            do throws(CommandFailure) { outcome = try await act.run() } catch {
                progress.finish()
                throw error
            }
            done.append((name, outcome))
        }
        progress.finish()
        try await note(done, client)
        if let job = settings.filter.job, done.allSatisfy({ $0.outcome.isEmpty }), !end.isGiven {
            try await client.mustKnow(job: job, in: apps)
        }
        try report(done)
    }

    /// Writes into the audit log what was done.
    @Loop private func note(
        _ done: [(app: String, outcome: ReplayAct.Outcome)], _ client: FarmClient
    ) async throws(CommandFailure) {
        guard !settings.isDry else { return }
        let changes = done.filter { $0.outcome.pushes > 0 }
        guard !changes.isEmpty else { return }
        try await client.note(
            settings.words, changes.map { "\($0.app): \($0.outcome.pushes) pushes" }.joined(separator: ", "))
    }

    private func report(_ done: [(app: String, outcome: ReplayAct.Outcome)]) throws(CommandFailure) {
        let touched = done.filter { !$0.outcome.isEmpty }
        let outcomes = done.map(\.outcome)
        console.show(
            .object([
                "id": .string(settings.name), "dry_run": .bool(settings.isDry),
                "pushes": .number(outcomes.reduce(0) { $0 + $1.pushes }),
                "dead_letters": .number(outcomes.reduce(0) { $0 + $1.letters }),
                "done_before": .number(outcomes.reduce(0) { $0 + $1.pushesBefore }),
                "interrupted": .bool(outcomes.contains { $0.isPart }),
                "apps": .array(touched.map { json($0.app, $0.outcome) }),
            ]),
            touched.isEmpty
                ? "there are no such dead letters\n" : touched.map { text($0.app, $0.outcome) }.joined())
        let isPart = outcomes.contains { $0.isPart || !$0.left.isEmpty }
        if isPart { throw CommandFailure(status: .partly, message: "") }
    }

    private func json(_ app: String, _ outcome: ReplayAct.Outcome) -> JSONValue {
        .object([
            "app": .string(app), "pushes": .number(outcome.pushes), "dead_letters": .number(outcome.letters),
            "done_before": .number(outcome.pushesBefore), "jobs": .array(outcome.jobs.map { .string($0) }),
            "left": .object(
                outcome.left.sorted { $0.key.rawValue < $1.key.rawValue }.map {
                    .init(name: $0.key.rawValue, value: .number($0.value))
                }),
            "refusal": .text(outcome.refusal),
        ])
    }

    private func text(_ app: String, _ outcome: ReplayAct.Outcome) -> String {
        let verb = settings.isDropping ? "dropped" : "replayed"
        let would = settings.isDry ? "would be " : ""
        var text = "\(app): \(Figures.counted(outcome.pushes, "push", "pushes")) of "
        text += "\(Figures.counted(outcome.letters, "dead letter", "dead letters")) \(would)\(verb)"
        if !outcome.jobs.isEmpty {
            text += " in " + outcome.jobs.prefix(3).joined(separator: ", ")
            if outcome.jobs.count > 3 { text += " and \(Figures.grouped(outcome.jobs.count - 3)) more jobs" }
        }
        text += "\n"
        if outcome.pushesBefore > 0 {
            text += "  \(Figures.grouped(outcome.pushesBefore)) were \(verb) before under \(settings.name)\n"
        }
        for (why, count) in outcome.left.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let more = why == .refused ? outcome.refusal.map { ": " + $0 } ?? "" : ""
            text += "  \(Figures.grouped(count)) left: \(why.advice)\(more)\n"
        }
        if outcome.isPart {
            text += "  interrupted; the same command with --id \(settings.name) continues\n"
        }
        return text
    }
}

extension ReplayAct.Outcome {
    fileprivate var isEmpty: Bool { pushes == 0 && pushesBefore == 0 && left.isEmpty && !isPart }
}
