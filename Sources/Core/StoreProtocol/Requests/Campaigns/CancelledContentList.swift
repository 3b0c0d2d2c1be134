package import RedisProtocol

/// Reads the first of the cancelled pushes with content of other campaigns.
package struct FirstCancelledContent: Request {
    package init() {}

    package var words: [any CommandArgument] { ["LINDEX", AppKey(\.cancelledContent), 0] }

    /// An entry for `CancelledPushes`; nil if there is none.
    package static func read(_ value: RESPValue) throws(StoreError) -> [UInt8]? { value.bytes }
}

/// Moves the first entry of cancelled pushes to the end of the list.
package struct PostponeCancelledContent: Request {
    package init() {}

    package var words: [any CommandArgument] {
        ["LMOVE", AppKey(\.cancelledContent), AppKey(\.cancelledContent), "LEFT", "RIGHT"]
    }

    /// Whether there was an entry.
    package static func read(_ value: RESPValue) throws(StoreError) -> Bool { value.bytes != nil }
}

/// Removes an entry of cancelled pushes, after its jobs are in the inbox. So an intake that has lost its lease only removes an entry
/// that it has handled.
package struct RemoveCancelledContent: Request {
    package typealias Reply = Int

    package let words: [any CommandArgument]

    package init(_ entry: [UInt8]) { words = ["LREM", AppKey(\.cancelledContent), 1, entry] }
}
