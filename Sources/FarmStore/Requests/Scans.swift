package import RESP

/// Part of what is too much for one call.
package struct ScanPage: Equatable, Sendable {
    package let items: [String]
    /// Where the next call begins; nil at the end.
    package let next: String?

    init(_ items: [String], cursor: String) {
        self.items = items
        next = cursor == "0" ? nil : cursor
    }
}

/// Finds the accounts that have to be held against the queues: of jobs that are not finished, and those that are wrong by
/// themselves.
package struct ScanAccounts: Request {
    package static var script: Script? { .audit }

    /// About 15 microseconds each.
    private static let page = 250

    package var shards: Int
    package var cursor: String

    package init(shards: Int, cursor: String = "0") { (self.shards, self.cursor) = (shards, cursor) }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append(keys)
        command.append(shards)
        command.append("accounts")
        command.append(cursor)
        command.append(Self.page)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> ScanPage {
        var reader = try ReplyReader(value, "audit, accounts")
        let cursor = try reader.text()
        var jobs: [String] = []
        while !reader.isAtEnd { jobs.append(try reader.text()) }
        return ScanPage(jobs, cursor: cursor)
    }
}

/// Finds the batches that have a state.
package struct ScanBatches: Request {
    package var cursor: String

    package init(cursor: String = "0") { self.cursor = cursor }

    package func write(_ keys: Keys, to command: inout RESPCommand) {
        command.append("HSCAN")
        command.append(keys.states)
        command.append(cursor)
        command.append("COUNT")
        command.append(500)
    }

    package static func read(_ value: RESPValue) throws(StoreError) -> ScanPage {
        var reader = try ReplyReader(value, "scan")
        let cursor = try reader.text()
        let words = try reader.texts()
        return ScanPage(stride(from: 0, to: words.count, by: 2).map { words[$0] }, cursor: cursor)
    }
}
