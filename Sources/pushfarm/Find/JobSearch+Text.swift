import FarmLogging
import RedisClient
import StoreProtocol

extension JobSearch.Outcome {
    func json(_ job: String) -> JSONValue {
        .object([
            "job": .string(job), "app": .string(app), "place": .text(place?.rawValue),
            "paused": .bool(isPaused), "record": jobRecord?.json ?? .null,
            "delays": .array(delays.map(JSONValue.string)),
            "dead_letters": .object(
                letters.sorted { $0.key < $1.key }.map { .init(name: $0.key, value: .number($0.value)) }),
            "refused": .array(refused.map { $0.json(app: app) }),
            "events": .array(events.map { EventTail.Line(app: app, event: $0).json }),
        ])
    }

    func text(_ job: String, _ console: Console) -> String {
        var text = ""
        if let jobRecord {
            text += JobReport(jobRecords: [jobRecord], console: console, delays: [app: delays]).text(
                jobRecord)
        }
        if let place { text += "\(PlainText.of(app)) \(PlainText.of(job))  \(place.rawValue)\n" }
        if isPaused { text += Paint.red.on("paused", if: console.colours) + "\n" }
        for (reason, pushes) in letters.sorted(by: { $0.key < $1.key }) {
            text += "dead letters: \(Figures.grouped(pushes)) pushes, \(PlainText.of(reason))\n"
        }
        for refused in refused {
            text +=
                "refused: \(refused.id)  \(PlainText.of(refused.field)): \(PlainText.of(refused.reason, limit: 300))\n"
        }
        for event in events { text += EventTail.Line(app: app, event: event).text(console.colours) + "\n" }
        return text
    }
}
