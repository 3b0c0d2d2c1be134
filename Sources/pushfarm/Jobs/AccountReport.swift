import FarmLogging
import StoreProtocol

/// Prints accounts: a JSON document each, or a table for people.
struct AccountReport {
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
        var table = Table(["": .left, "": .right, "": .left])
        func row(_ name: String, _ count: Int, _ paint: Paint? = nil, always: Bool = false) {
            guard always || count != 0 else { return }
            table.add(.init(name, .dim), .init(Figures.grouped(count), paint))
        }
        row("submitted", account.submitted, always: true)
        row("accepted", account.accepted, always: true)
        row("malformed", account.malformed, .yellow)
        row("duplicates", account.duplicates)
        row("delivered", account.delivered, .green, always: true)
        row("failed", account.failed, .red, always: true)
        for (reason, count) in account.reasons.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            row("  " + reason, count)
        }
        row("expired", account.expired, .yellow)
        row("cancelled", account.cancelled, .yellow)
        row("queued", account.queued)
        row("in flight", account.inFlight)
        row("delayed", account.waiting)
        row("maybe duplicated", account.maybeDuplicated, .yellow)
        row("crashes", account.crashes, .red)
        row("replayed", account.replayed)
        let head = Paint.bold.on("\(account.app) \(account.id)", if: console.colours)
        let parked = account.parked.map { Paint.red.on("  paused: \($0)", if: console.colours) } ?? ""
        let origin = account.replayOf.map { "  replay of \(PlainText.of($0))" } ?? ""
        let warning = account.warning.map {
            Paint.yellow.on("warning: " + PlainText.of($0, limit: 300), if: console.colours) + "\n"
        }
        return "\(head)\(origin)  \(account.state.rawValue)\(timing(account))\(parked)\n" + (warning ?? "")
            + table.text(colours: console.colours)
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
