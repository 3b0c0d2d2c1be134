import FarmLogging
import StoreProtocol

/// Prints each job record as a JSON document, or as a table for people.
struct JobReport {
    let jobRecords: [JobRecord]
    let console: Console
    /// The reasons why pushes of an open job are delayed.
    var delays: [String] = []

    /// - Throws: status 1 when a finished job has malformed pushes, unknown recipients, or accepted pushes that were not delivered.
    func show() throws(CommandFailure) {
        for jobRecord in jobRecords {
            console.show(
                jobRecord.json.adding(["delays": .strings(delays)]), text(jobRecord))
        }
        let isGood = jobRecords.allSatisfy {
            $0.state == .open
                || $0.delivered == $0.accepted && $0.malformed == 0 && $0.unknownRecipients == 0
        }
        if !isGood { throw .failed() }
    }

    func text(_ jobRecord: JobRecord) -> String {
        var table = FactTable()
        table.add("submitted", jobRecord.submitted, always: true)
        table.add("accepted", jobRecord.accepted, always: true)
        table.add("malformed", jobRecord.malformed, .yellow)
        table.add("duplicates", jobRecord.duplicates)
        table.add("unknown recipients", jobRecord.unknownRecipients, .yellow)
        table.add("capped", jobRecord.capped, .yellow)
        table.add("delivered", jobRecord.delivered, .green, always: true)
        table.add("failed", jobRecord.failed, .red, always: true)
        table.add(reasons: jobRecord.reasons)
        table.add("expired", jobRecord.expired, .yellow)
        table.add("cancelled", jobRecord.cancelled, .yellow)
        table.add("queued", jobRecord.queued)
        table.add("in flight", jobRecord.inFlight)
        table.add("delayed", jobRecord.delayed)
        table.add("maybe duplicated", jobRecord.maybeDuplicated, .yellow)
        table.add("crashes", jobRecord.crashes, .red)
        table.add("replayed", jobRecord.replayed)
        let head = Paint.bold.on("\(jobRecord.app) \(jobRecord.id)", if: console.colours)
        let paused = jobRecord.pausedReason.map { Paint.red.on("  paused: \($0)", if: console.colours) } ?? ""
        let origin = jobRecord.replayOf.map { "  replay of \(PlainText.of($0))" } ?? ""
        let warning = jobRecord.warning.map {
            Paint.yellow.on("warning: " + PlainText.of($0, limit: 300), if: console.colours) + "\n"
        }
        return "\(head)\(origin)  \(jobRecord.state.rawValue)\(timing(jobRecord))\(paused)\n"
            + (warning ?? "")
            + table.text(console.style)
            + delays.map { "delay: \($0)\n" }.joined()
    }

    private func timing(_ jobRecord: JobRecord) -> String {
        guard let finished = jobRecord.finishedAt else {
            return "  since \(Timestamp(milliseconds: jobRecord.createdAt))"
        }
        return " in " + Figures.time(.milliseconds(finished - jobRecord.createdAt))
    }
}

extension JobRecord {
    /// Pushes that have an outcome.
    var settled: Int { delivered + failed + expired + cancelled }

    /// The job record with its stable field names.
    var json: JSONValue {
        .object([
            "id": .string(id), "app": .string(app), "state": .string(state.rawValue),
            "submitted": .number(submitted), "accepted": .number(accepted), "malformed": .number(malformed),
            "duplicates": .number(duplicates), "unknown_recipients": .number(unknownRecipients),
            "capped": .number(capped),
            "delivered": .number(delivered), "failed": .number(failed),
            "expired": .number(expired), "cancelled": .number(cancelled), "queued": .number(queued),
            "in_flight": .number(inFlight), "delayed": .number(delayed),
            "maybe_duplicated": .number(maybeDuplicated), "created_at": .number(createdAt),
            "finished_at": .whole(finishedAt), "paused_reason": .text(pausedReason),
            "crashes": .number(crashes), "replay_of": .text(replayOf), "replayed": .number(replayed),
            "warning": .text(warning),
            "reasons": .counts(reasons),
        ])
    }
}
