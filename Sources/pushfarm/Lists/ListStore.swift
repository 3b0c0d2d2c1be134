import Campaigns
import EventLoop
import RedisClient
import StoreProtocol

/// The uploaded lists of an app in Redis.
@Loop struct ListStore {
    /// The maximum numbers of pieces and of their bytes that one pipeline writes.
    private static let mostPieces = (count: 128, bytes: 4 << 20)
    /// The maximum number of other requests of one pipeline.
    private static let mostRequests = 512
    /// The number of pages that one request removes.
    private static let removedPages = 64

    let client: FarmClient
    let app: String

    private var store: AppRedis { AppRedis(app: app, connection: client.redis) }

    // MARK: Lists

    struct Lists: Sendable {
        /// The lists in the order of their names, without expired lists.
        let lists: [UploadedList]
        /// The names of the lists that expired.
        let expired: [String]
        /// The names of the lists that this version cannot read.
        let unreadable: [String]

        subscript(name: String) -> UploadedList? { lists.first { $0.name == name } }
    }

    /// Reads all lists.
    func lists() async throws(CommandFailure) -> Lists {
        let now = try await client.clock().clampedMilliseconds
        var (lists, expired, unreadable): ([UploadedList], [String], [String]) = ([], [], [])
        for (name, json) in try await client.call(ReadLists(), app) {
            guard let list = UploadedList(name: name, json: json) else {
                unreadable.append(name)
                continue
            }
            if list.expiresAt <= now { expired.append(name) } else { lists.append(list) }
        }
        return Lists(lists: lists, expired: expired, unreadable: unreadable)
    }

    /// The list with a name.
    func list(_ name: String) async throws(CommandFailure) -> UploadedList {
        let lists = try await lists()
        if let list = lists[name] { return list }
        let shown = PlainText.of(name, limit: 64)
        guard !lists.unreadable.contains(name) else {
            throw .failed("the list \"\(shown)\" of \(app) cannot be read")
        }
        throw .usage(
            "\(app) has no list \"\(shown)\"" + UnknownName.advice(name, among: lists.lists.map(\.name)))
    }

    func save(_ list: UploadedList) async throws(CommandFailure) {
        _ = try await client.call(SaveList(name: list.name, json: list.json), app)
    }

    /// Removes a list and its pages.
    func remove(_ name: String, version: String?) async throws(CommandFailure) {
        // A campaign must not find the list when some of the pages are already removed.
        _ = try await client.call(RemoveList(name: name), app)
        if let version { try await removePages(of: version) }
    }

    /// Removes an upload that has not ended. Another upload may have taken its name.
    func remove(unfinished list: UploadedList) async throws(CommandFailure) {
        if try await lists()[list.name]?.version == list.version {
            _ = try await client.call(RemoveList(name: list.name), app)
        }
        try await removePages(of: list.version)
    }

    // MARK: Pages

    /// Writes pieces of pages, except the pieces that the pages have already.
    func write(_ pieces: [ListPiece], of version: String) async throws(CommandFailure) {
        var rest = pieces[...]
        while !rest.isEmpty {
            var (part, bytes): ([ListPiece], Int) = ([], 0)
            while let piece = rest.first, part.isEmpty || bytes + piece.bytes.count <= Self.mostPieces.bytes,
                part.count < Self.mostPieces.count
            {
                part.append(piece)
                bytes += piece.bytes.count
                rest.removeFirst()
            }
            try await writePart(part, of: version)
        }
    }

    private func writePart(_ pieces: [ListPiece], of version: String) async throws(CommandFailure) {
        let keys = pieces.map { ListPageKey(version: version, group: $0.group, page: $0.page) }
        let before = try await all(keys.map { ReadListPageSize($0) })
        // A page that is too short has lost bytes in a crash of Redis, and SETRANGE would fill the gap with zeros.
        guard zip(before, pieces).allSatisfy({ $0 >= $1.offset }) else { throw Self.lost }
        // An earlier command, which was killed, may have written the first pieces of the same file.
        let missing = zip(zip(keys, pieces), before).filter { $0.1.end > $1 }.map(\.0)
        let after = try await all(missing.map { WriteListPage($0, at: $1.offset, $1.bytes) })
        guard after == missing.map(\.1.end) else { throw Self.lost }
        let new = zip(keys, pieces).filter { $1.offset == 0 }.map(\.0)
        let kept = try await all(new.map { ExpireListPage($0, seconds: UploadedList.uploadSeconds) })
        guard kept.allSatisfy(\.self) else { throw Self.lost }
    }

    /// Sets the expiry of a list's pages.
    /// - Throws: a temporary failure if a page does not exist.
    func keep(_ list: UploadedList, seconds: Int) async throws(CommandFailure) {
        var keys: [ListPageKey] = []
        func flush() async throws(CommandFailure) {
            let kept = try await all(keys.map { ExpireListPage($0, seconds: seconds) })
            guard kept.allSatisfy(\.self) else { throw Self.lost }
            keys.removeAll(keepingCapacity: true)
        }
        for (number, group) in list.groups.enumerated() {
            for page in 0..<group.pages {
                keys.append(ListPageKey(version: list.version, group: number, page: page))
                if keys.count == Self.mostRequests { try await flush() }
            }
        }
        try await flush()
    }

    /// Removes all pages of an upload, whose numbers need not be known: the pages of a group are written in their order.
    func removePages(of version: String) async throws(CommandFailure) {
        var groups = Array(0..<UploadedList.mostGroups)
        var start = 0
        while !groups.isEmpty {
            var rest: [Int] = []
            for first in stride(from: 0, to: groups.count, by: Self.removedPages) {
                let part = groups[first..<min(first + Self.removedPages, groups.count)]
                let requests = part.map { group in
                    RemoveListPages(
                        (start..<start + Self.removedPages).map {
                            ListPageKey(version: version, group: group, page: $0)
                        })
                }
                rest += zip(part, try await all(requests)).filter { $1 == Self.removedPages }.map(\.0)
            }
            groups = rest
            start += Self.removedPages
        }
    }

    private func all<Step: Request>(_ requests: [Step]) async throws(CommandFailure) -> [Step.Reply] {
        do { return try await store.performAll(requests) } catch { throw client.failure(error) }
    }

    static let lost = CommandFailure.temporary(
        "Redis has lost rows of the list; run the same command again")
}
