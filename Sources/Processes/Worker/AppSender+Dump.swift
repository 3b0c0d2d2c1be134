import Gateway

/// What a dump says of an app.
extension AppSender {
    var summary: String {
        let why = hold.map { "\($0)" } ?? "sending"
        return [
            why, "shards \(shards.count)", "batches \(window.held.count)", "in the air \(pool.openStreams)",
            "not reported \(window.exposure)", "waiting high \(window.waiting[0].count)",
            "bulk \(window.waiting[1].count)", "dials \(pool.dials)",
        ].joined(separator: ", ")
    }

    var connectionSummaries: [String] {
        pool.connections.map { connection in
            var words = ["open \(connection.openStreams) of \(connection.limit)"]
            if connection.isSpent { words.append("spent") }
            if connection.isSlowed { words.append("slowed") }
            if !connection.isProven { words.append("not proven") }
            words.append("bytes \(connection.bytesWritten)")
            return words.joined(separator: ", ")
        }
    }
}
