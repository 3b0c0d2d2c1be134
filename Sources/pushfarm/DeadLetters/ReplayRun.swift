import EventLoop
import Foundation
import StoreProtocol

/// Replays or drops dead letters of one app or of all apps, and shows the result.
@Loop struct ReplayRun {
    let client: FarmClient
    let settings: ReplaySettings
    let console: Console

    private typealias Result = (app: String, outcome: AppReplay.Outcome)

    /// - Parameters:
    ///   - app: the app, or nil for all apps.
    ///   - typed: the typed command, for the audit log.
    func perform(app: String?, typed: [String]) async throws(CommandFailure) {
        let end = EndSignal()
        // After a second signal, exit at once. This is safe, because each step is atomic in Redis.
        end.onRepeat = { exit(ExitStatus.partly.rawValue) }
        let apps = try await client.apps(selectedBy: app)
        let now = try await client.clock().components.seconds
        let total = try await client.deadLetterPushes(of: apps)
        var progress = ProgressLine("pushes", total: min(total, settings.limit ?? total), quiet: console.json)
        defer { progress.finish() }
        var results: [Result] = []
        for name in apps where !end.isGiven {
            var settings = settings
            let before = results.reduce(0) { $0 + $1.outcome.pushes + $1.outcome.pushesBefore }
            if let limit = settings.limit { settings.limit = limit - before }
            guard settings.limit ?? 1 > 0 else { break }
            if let days = client.configuration.app(named: name)?.deadLetters.days, !settings.isDropping {
                settings.life = days * 86_400
            }
            let replay = AppReplay(client, app: name, settings, now: now, end: end)
            replay.progress = { progress.update(before + $0.pushes) }
            results.append((name, try await replay.run()))
        }
        progress.finish()
        let changes = results.filter { $0.outcome.pushes > 0 }
        if !settings.isDry, !changes.isEmpty {
            let words = changes.map { "\($0.app): \($0.outcome.pushes) pushes" }
            try await client.note(typed, words.joined(separator: ", "))
        }
        if let job = settings.filter.job, results.allSatisfy({ $0.outcome.isEmpty }), !end.isGiven {
            try await client.mustKnow(job: job, in: apps)
        }
        try show(results)
    }

    private func show(_ results: [Result]) throws(CommandFailure) {
        let touched = results.filter { !$0.outcome.isEmpty }
        let outcomes = results.map(\.outcome)
        console.show(
            .object([
                "id": .string(settings.name), "dry_run": .bool(settings.isDry),
                "pushes": .number(outcomes.reduce(0) { $0 + $1.pushes }),
                "dead_letters": .number(outcomes.reduce(0) { $0 + $1.letters }),
                "done_before": .number(outcomes.reduce(0) { $0 + $1.pushesBefore }),
                "interrupted": .bool(outcomes.contains { $0.isPart }),
                "apps": .array(touched.map { $0.outcome.json($0.app) }),
            ]),
            touched.isEmpty
                ? "no dead letters match\n" : touched.map { text($0.app, $0.outcome) }.joined())
        let isPart = outcomes.contains { $0.isPart || !$0.skipped.isEmpty }
        if isPart { throw CommandFailure(status: .partly, message: "") }
    }

    private func text(_ app: String, _ outcome: AppReplay.Outcome) -> String {
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
        for (why, count) in outcome.sortedKept {
            let more = why == .refused ? outcome.refusal.map { ": " + $0 } ?? "" : ""
            text += "  \(Figures.grouped(count)) left: \(why.advice)\(more)\n"
        }
        if outcome.isPart {
            text += "  interrupted; the same command with --id \(settings.name) continues\n"
        }
        return text
    }
}

extension AppReplay.Outcome {
    fileprivate var isEmpty: Bool { pushes == 0 && pushesBefore == 0 && skipped.isEmpty && !isPart }

    fileprivate var sortedKept: [(key: ReplayPlan.SkipReason, value: Int)] {
        skipped.sorted { $0.key.rawValue < $1.key.rawValue }
    }

    fileprivate func json(_ app: String) -> JSONValue {
        .object([
            "app": .string(app), "pushes": .number(pushes), "dead_letters": .number(letters),
            "done_before": .number(pushesBefore), "jobs": .strings(jobs),
            "left": .object(sortedKept.map { .init(name: $0.key.rawValue, value: .number($0.value)) }),
            "refusal": .text(refusal),
        ])
    }
}
