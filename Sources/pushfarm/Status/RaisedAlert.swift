import FarmPolicy
import RedisClient

/// An alert that is raised, for people.
struct RaisedAlert: Sendable, Equatable {
    var kind: String
    var app: String?
    var host: String?
    var subject: String
    var level: Int
    /// Unix milliseconds.
    var since: Int64
    var text: String

    init(_ raised: FarmRegistry.RaisedAlert) {
        let alert = Alert(id: raised.id)
        kind = alert?.kind.rawValue ?? raised.id
        if case .app(let name) = alert?.scope { app = name }
        if case .host(let name) = alert?.scope { host = name }
        subject = alert?.subject ?? ""
        (level, since, text) = (raised.level, raised.since, raised.text)
    }

    /// The status sees the same by itself.
    var isSeenOtherwise: Bool {
        [Alert.Kind.appPaused, .hostGone, .keyType, .unreadable].contains { $0.rawValue == kind }
    }

    var json: JSONValue {
        .object([
            "alert": .string(kind), "app": .text(app), "host": .text(host),
            "subject": .text(subject.isEmpty ? nil : subject), "level": .number(level),
            "since": .number(since),
            "text": .string(text),
        ])
    }
}

/// An alert that was raised or called off, as the farm's stream has it.
struct ToldAlert: Sendable, Equatable {
    var at: Int64
    var isRaised: Bool
    var kind: String
    var app: String?
    var host: String?
    var text: String

    init(_ fields: [String: String]) {
        at = fields["at"].flatMap { Int64(foreign: $0) } ?? 0
        isRaised = fields["type"] != "alert.cleared"
        kind = fields["alert"] ?? ""
        (app, host) = (fields["app"], fields["host"])
        text = fields["text"] ?? ""
    }

    var json: JSONValue {
        .object([
            "at": .number(at), "type": .string(isRaised ? "alert.fired" : "alert.cleared"),
            "alert": .string(kind), "app": .text(app), "host": .text(host), "text": .string(text),
        ])
    }
}
