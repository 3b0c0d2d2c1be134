package import PushModel
package import RedisProtocol

/// How old the oldest push of each lane is that could be sent or is with a worker.
package struct ReadAges: Request {
    package struct Reply: Equatable, Sendable {
        /// Since its jobs were split, or it was due, or last tried; nil when nothing waits.
        package let high: Duration?
        package let bulk: Duration?

        package init(high: Duration?, bulk: Duration?) { (self.high, self.bulk) = (high, bulk) }

        package var oldest: Duration? { [high, bulk].compactMap(\.self).max() }

        package subscript(lane: Lane) -> Duration? { lane == .high ? high : bulk }
    }

    package static var script: Script? { .ages }

    /// Of the farm.
    package var shards: Int

    package init(shards: Int) { self.shards = shards }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(shards)
    }

    package func plain(_ keys: Keys) -> [RESPCommand] {
        [RESPCommand("TIME")]
            + (0..<max(0, shards)).flatMap {
                keys.batchLists($0).map { RESPCommand("LINDEX", key: $0, "0") }
            }
    }

    package func readPlain(_ answers: [RESPValue], _ keys: Keys) throws(StoreError) -> Reply {
        let time = answers.first?.array?.compactMap { $0.text.flatMap { Int64(foreign: $0) } } ?? []
        guard time.count == 2 else {
            throw .unexpectedReply("ages, the time")
        }
        let now = time[0] * 1000 + time[1] / 1000
        var ages: [Lane: Duration] = [:]
        for (index, answer) in answers.dropFirst().enumerated() {
            let id = BatchID(answer.bytes ?? [])
            guard let since = id.madeAt else { continue }
            // Of a shard there are the lists of high, of bulk, and of both together.
            let lane = index % 3 == 0 ? Lane.high : index % 3 == 1 ? .bulk : id.lane ?? .high
            let age = Duration.milliseconds(now) - .milliseconds(since)
            ages[lane] = max(ages[lane] ?? .zero, age)
        }
        return Reply(high: ages[.high], bulk: ages[.bulk])
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        var reader = try ReplyReader(value, "ages")
        func age(_ milliseconds: Int) -> Duration? { milliseconds < 0 ? nil : .milliseconds(milliseconds) }
        return Reply(high: age(try reader.integer()), bulk: age(try reader.integer()))
    }
}
