package import RedisProtocol

/// Reads all saved segments of an app.
package struct ReadSegments: Request {
    package struct Reply: Equatable, Sendable {
        /// The segments, in the order of their names.
        package let segments: [SavedSegment]
        /// The names of the segments that this version cannot read, in order.
        package let unreadable: [String]

        package init(segments: [SavedSegment], unreadable: [String]) {
            (self.segments, self.unreadable) = (segments, unreadable)
        }
    }

    package init() {}

    package var words: [any CommandArgument] { ["HGETALL", AppKey(\.segments)] }

    package static func read(_ value: RESPValue) throws(StoreError) -> Reply {
        guard value.array != nil else { throw .unexpectedReply("\(Self.self)") }
        var (segments, unreadable): ([SavedSegment], [String]) = ([], [])
        for (name, value) in value.pairs {
            let name = name.text ?? ""
            if let segment = value.bytes.flatMap({ SavedSegment(name: name, json: $0) }) {
                segments.append(segment)
            } else {
                unreadable.append(name)
            }
        }
        return Reply(segments: segments.sorted { $0.name < $1.name }, unreadable: unreadable.sorted())
    }
}

/// Saves a segment, or replaces the segment with this name.
package struct SaveSegment: Request {
    /// True if the segment is new, false if it replaced a segment with this name.
    package typealias Reply = Bool

    package let words: [any CommandArgument]

    package init(_ segment: SavedSegment) {
        words = ["HSET", AppKey(\.segments), segment.name, segment.json]
    }
}

/// Removes a saved segment.
package struct RemoveSegment: Request {
    /// Whether a segment had this name.
    package typealias Reply = Bool

    package let words: [any CommandArgument]

    package init(name: String) { words = ["HDEL", AppKey(\.segments), name] }
}
