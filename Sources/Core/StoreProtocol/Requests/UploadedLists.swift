package import RedisProtocol

/// A page of an uploaded list: a string with up to 256 rows.
package struct ListPageKey: Hashable, Sendable {
    /// The unique name of the upload.
    package let version: String
    /// The number of the group of rows.
    package let group: Int
    /// The number of the page in its group.
    package let page: Int

    package init(version: String, group: Int, page: Int) {
        (self.version, self.group, self.page) = (version, group, page)
    }

    fileprivate var argument: AppKey {
        AppKey { keys in keys.listPage(version: version, group: group, page: page) }
    }
}

/// Reads what is stored about all uploaded lists of an app, beside their pages.
package struct ReadLists: Request {
    package init() {}

    package var words: [any CommandArgument] { ["HGETALL", AppKey(\.lists)] }

    /// The values by the names of the lists, in the order of the names.
    package static func read(_ value: RESPValue) throws(StoreError) -> [(name: String, json: [UInt8])] {
        guard value.array != nil else { throw .unexpectedReply("\(Self.self)") }
        return value.pairs.map { ($0.name.text ?? "", $0.value.bytes ?? []) }.sorted { $0.0 < $1.0 }
    }
}

/// Reads what is stored about one uploaded list, beside its pages.
package struct ReadList: Request {
    package let words: [any CommandArgument]

    package init(name: String) { words = ["HGET", AppKey(\.lists), name] }

    /// The value; nil if there is no list of this name.
    package static func read(_ value: RESPValue) throws(StoreError) -> [UInt8]? { value.bytes }
}

/// Saves what is stored about an uploaded list, or replaces it.
package struct SaveList: Request {
    /// True if the list is new.
    package typealias Reply = Bool

    package let words: [any CommandArgument]

    package init(name: String, json: [UInt8]) { words = ["HSET", AppKey(\.lists), name, json] }
}

/// Removes what is stored about an uploaded list. The pages stay until ``RemoveListPages`` removes them, or until they expire.
package struct RemoveList: Request {
    /// Whether a list had this name.
    package typealias Reply = Bool

    package let words: [any CommandArgument]

    package init(name: String) { words = ["HDEL", AppKey(\.lists), name] }
}

/// Writes bytes at an offset of a page. A repeated call changes nothing.
package struct WriteListPage: Request {
    /// The size of the page after the call, in bytes.
    package typealias Reply = Int

    package let words: [any CommandArgument]

    package init(_ key: ListPageKey, at offset: Int, _ bytes: [UInt8]) {
        words = ["SETRANGE", key.argument, offset, bytes]
    }
}

/// Reads the size of a page in bytes; 0 if the page does not exist.
package struct ReadListPageSize: Request {
    package typealias Reply = Int

    package let words: [any CommandArgument]

    package init(_ key: ListPageKey) { words = ["STRLEN", key.argument] }
}

/// Makes a page expire after a time from now.
package struct ExpireListPage: Request {
    /// Whether the page exists.
    package typealias Reply = Bool

    package let words: [any CommandArgument]

    package init(_ key: ListPageKey, seconds: Int) { words = ["EXPIRE", key.argument, seconds] }
}

/// Reads one page. If the reply is nil, the page has expired or was removed.
package struct ReadListPage: Request {
    package let words: [any CommandArgument]

    package init(_ key: ListPageKey) { words = ["GET", key.argument] }

    package static func read(_ value: RESPValue) throws(StoreError) -> [UInt8]? { value.bytes }
}

/// Removes pages.
package struct RemoveListPages: Request {
    /// The number of the pages that existed.
    package typealias Reply = Int

    package let words: [any CommandArgument]

    /// - Parameter keys: at least one page.
    package init(_ keys: [ListPageKey]) { words = ["DEL", ArgumentList(keys.map(\.argument))] }
}
