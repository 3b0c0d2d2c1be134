package import RedisProtocol

/// What operators, and poison, hold back in an app.
package struct ReadMarks: Request {
    package enum Kind: Sendable, CaseIterable {
        case jobs, devices, shards, cancels
    }

    package struct Mark: Equatable, Sendable {
        /// A job's id, a raw token, a shard's number.
        package let name: [UInt8]
        /// Unix milliseconds of Redis's clock.
        package let since: Int64
        /// `pause`, `quarantine`, `cancel`; `poison` when workers were ended.
        package var kind: String
        /// Empty when the farm did it by itself.
        package var by = ""
        package var reason = ""
        /// Of a job that is called back: from when on, in Unix milliseconds.
        package var from: Int64 = 0
        /// Of a device.
        package var shard: Int?

        package init(
            name: [UInt8], since: Int64, kind: String, by: String = "", reason: String = "", from: Int64 = 0
        ) {
            (self.name, self.since, self.kind) = (name, since, kind)
            (self.by, self.reason, self.from) = (by, reason, from)
        }

        package var text: String { String(decoding: name, as: UTF8.self) }
    }

    package var kind: Kind

    package init(_ kind: Kind) { self.kind = kind }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HGETALL")
        switch kind {
        case .jobs: command.append(keys.pausedJobs)
        case .devices: command.append(keys.pausedTokens)
        case .shards: command.append(keys.pausedShards)
        case .cancels: command.append(keys.cancels)
        }
    }

    /// Names and what is written down of them: see `hold.lua`.
    package static func read(_ value: RESPValue) throws(StoreError) -> [(name: [UInt8], text: String)] {
        var reader = try ReplyReader(value, "marks")
        var marks: [(name: [UInt8], text: String)] = []
        while !reader.isAtEnd { marks.append((try reader.bytes(), try reader.text())) }
        return marks
    }

    /// The marks in the order in which they were made.
    package func marks(_ reply: [(name: [UInt8], text: String)]) -> [Mark] {
        reply.map { mark($0.name, $0.text) }.sorted { ($0.since, $0.text) < ($1.since, $1.text) }
    }

    private func mark(_ name: [UInt8], _ text: String) -> Mark {
        let words = text.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map {
            String($0)
        }
        func word(_ index: Int) -> String { index < words.count ? words[index] : "" }
        var mark = Mark(name: name, since: Int64(foreign: word(0)) ?? 0, kind: "")
        switch kind {
        case .jobs where words.count < 2: mark.kind = "poison"
        case .jobs, .shards: (mark.kind, mark.by, mark.reason) = (word(1), word(2), word(3))
        case .devices:
            (mark.kind, mark.by, mark.reason) = ("quarantine", word(2), word(3))
            mark.shard = Int(foreign: word(1))
        case .cancels:
            (mark.kind, mark.by) = ("cancel", word(3))
            mark.from = Int64(foreign: word(1)) ?? 0
        }
        return mark
    }
}
