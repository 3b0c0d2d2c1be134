import FarmPolicy
import PushModel

/// An alert as commands and webhooks get it.
struct AlertMessage: Equatable, Sendable {
    var what: AlertEvaluator.News.What
    var alert: Alert
    var level: Int
    var text: String
    /// Since when it is raised, and now, in Unix milliseconds.
    var since: Int64
    var at: Int64
    /// The host that sends it.
    var sender: String

    var type: String { "alert.\(what.rawValue)" }

    /// Names and values that say something.
    var fields: [(name: String, value: String)] {
        var fields = [("type", type), ("alert", alert.kind.rawValue)]
        switch alert.scope {
        case .app(let name): fields.append(("app", name))
        case .host(let name): fields.append(("host", name))
        case .farm: break
        }
        if !alert.subject.isEmpty { fields.append(("subject", alert.subject)) }
        return fields + [("text", text), ("sent_by", sender)]
    }

    var numbers: [(name: String, value: Int64)] {
        [("level", Int64(level)), ("since", since), ("at", at)]
    }

    /// `PUSHFARM_ALERT_…=…`, without control characters.
    var environment: [String] {
        let all = fields + numbers.map { ($0.name, String($0.value)) }
        return all.map { name, value in
            let plain = String(
                value.unicodeScalars.map { UTF8Text.isControl($0) ? " " : Character($0) })
            return "PUSHFARM_ALERT_\(name.uppercased())=\(plain)"
        }
    }

    var json: [UInt8] {
        var json = JSONText()
        json.beginObject()
        for (name, value) in fields { json.member(name, value) }
        for (name, value) in numbers { json.member(name, value) }
        json.endObject()
        return json.bytes
    }
}
