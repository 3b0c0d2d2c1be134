import FarmLogging
import StoreProtocol

/// Prints accounts: a JSON document each, or a table for people.
struct JobReport {
    let accounts: [Account]
    let console: Console
    /// Why pushes of open jobs are delayed, by app.
    var delays: [String: [String]] = [:]

    /// - Throws: status 1 when a finished job was not delivered whole.
    func show() throws(CommandFailure) {
        for account in accounts { console.show(json(account), text(account)) }
        let isGood = accounts.allSatisfy {
            $0.state == .open || $0.delivered == $0.accepted && $0.malformed == 0
        }
        if !isGood { throw .failed() }
    }

    private func json(_ account: Account) -> JSONValue {
        guard case .object(let fields) = account.json else { return account.json }
        let delays = (delays[account.app] ?? []).map(JSONValue.string)
        return .object(fields + [.init(name: "delays", value: .array(delays))])
    }

    func text(_ account: Account) -> String {
        var table = FactTable()
        table.add("submitted", account.submitted, always: true)
        table.add("accepted", account.accepted, always: true)
        table.add("malformed", account.malformed, .yellow)
        table.add("duplicates", account.duplicates)
        table.add("delivered", account.delivered, .green, always: true)
        table.add("failed", account.failed, .red, always: true)
        table.add(reasons: account.reasons)
        table.add("expired", account.expired, .yellow)
        table.add("cancelled", account.cancelled, .yellow)
        table.add("queued", account.queued)
        table.add("in flight", account.inFlight)
        table.add("delayed", account.waiting)
        table.add("maybe duplicated", account.maybeDuplicated, .yellow)
        table.add("crashes", account.crashes, .red)
        table.add("replayed", account.replayed)
        let head = Paint.bold.on("\(account.app) \(account.id)", if: console.colours)
        let parked = account.parked.map { Paint.red.on("  paused: \($0)", if: console.colours) } ?? ""
        let origin = account.replayOf.map { "  replay of \(PlainText.of($0))" } ?? ""
        let warning = account.warning.map {
            Paint.yellow.on("warning: " + PlainText.of($0, limit: 300), if: console.colours) + "\n"
        }
        return "\(head)\(origin)  \(account.state.rawValue)\(timing(account))\(parked)\n" + (warning ?? "")
            + table.text(console.style)
            + (delays[account.app] ?? []).map { "delay: \($0)\n" }.joined()
    }

    private func timing(_ account: Account) -> String {
        guard let finished = account.finishedAt else {
            return "  since \(Timestamp(milliseconds: account.createdAt))"
        }
        return " in " + Figures.time(.milliseconds(finished - account.createdAt))
    }
}

extension Account {
    /// The account with its stable field names.
    var json: JSONValue {
        .object([
            "id": .string(id), "app": .string(app), "state": .string(state.rawValue),
            "submitted": .number(submitted), "accepted": .number(accepted), "malformed": .number(malformed),
            "duplicates": .number(duplicates), "delivered": .number(delivered), "failed": .number(failed),
            "expired": .number(expired), "cancelled": .number(cancelled), "queued": .number(queued),
            "in_flight": .number(inFlight), "delayed": .number(waiting),
            "maybe_duplicated": .number(maybeDuplicated), "created_at": .number(createdAt),
            "finished_at": finishedAt.map { .number($0) } ?? .null, "paused_reason": .text(parked),
            "crashes": .number(crashes), "replay_of": .text(replayOf), "replayed": .number(replayed),
            "warning": .text(warning),
            "reasons": .object(
                reasons.sorted { $0.key < $1.key }.map {
                    JSONValue.Field(name: $0.key, value: .number($0.value))
                }),
        ])
    }
}
