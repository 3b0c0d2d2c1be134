import Campaigns
import EventLoop
import RedisClient
import StoreProtocol

/// Reads uploaded lists for campaigns.
@Loop final class ListReader {
    /// How long a list may be remembered. A list that was removed may be used for this time.
    private static let memory = Duration.seconds(3)
    /// The number of pages that are read, or kept, at once.
    private static let pipeline = (read: 8, keep: 512)

    private let store: AppRedis
    private var known: [String: (read: ContinuousClock.Instant, list: UploadedList)] = [:]

    init(store: AppRedis) { self.store = store }

    /// Returns a list that is ready.
    ///
    /// - Parameter version: the upload that a campaign has begun with; nil before the campaign begins.
    /// - Returns: the trouble as text if the list cannot be used.
    func list(
        _ name: String, version: String?
    ) async throws(StoreError) -> Result<ListAudience, AudienceReader.Trouble> {
        func trouble(_ text: String) -> Result<ListAudience, AudienceReader.Trouble> {
            .failure(AudienceReader.Trouble(description: text))
        }
        if let found = known[name], found.read.duration(to: .now) < Self.memory,
            version.map({ $0 == found.list.version }) ?? true
        {
            return .success(ListAudience(found.list))
        }
        known[name] = nil
        guard let json = try await store.perform(ReadList(name: name)) else {
            return trouble("there is no list \"\(name)\"")
        }
        guard let list = UploadedList(name: name, json: json) else {
            return trouble("the list \"\(name)\" cannot be read")
        }
        guard list.state == .ready else {
            return trouble("the upload of the list \"\(name)\" is not finished")
        }
        guard list.expiresAt > store.connection.clock.milliseconds else {
            return trouble("the list \"\(name)\" has expired")
        }
        guard version.map({ $0 == list.version }) ?? true else {
            return trouble("the list \"\(name)\" was replaced after the start of the campaign")
        }
        if known.count >= UploadedList.most { known = [:] }
        known[name] = (.now, list)
        return .success(ListAudience(list))
    }

    /// Reads rows of a chunk, in the order of the ordinals. Only a few pages are in memory at once.
    ///
    /// - Returns: nil for a row that cannot be read; nil for all rows together if the list was removed meanwhile.
    func rows(
        _ ordinals: [UInt16], of chunk: AudienceChunk, in list: ListAudience
    ) async throws(StoreError) -> [ListRow?]? {
        var rows: [ListRow?] = []
        rows.reserveCapacity(ordinals.count)
        var rest = ordinals[...]
        while !rest.isEmpty {
            var (part, pages): ([UInt16], [Int]) = ([], [])
            while let ordinal = rest.first {
                let page = (chunk.firstOrdinal + Int(ordinal)) / ListPage.size
                if pages.last != page {
                    guard pages.count < Self.pipeline.read else { break }
                    pages.append(page)
                }
                part.append(rest.removeFirst())
            }
            let keys = pages.map {
                ListPageKey(version: list.list.version, group: chunk.partition, page: $0)
            }
            let read = try await store.performAll(keys.map(ReadListPage.init))
            if read.contains(nil) {
                known[list.list.name] = nil
                let present = try await self.list(list.list.name, version: list.list.version)
                guard case .success = present else { return nil }
            }
            let found = Dictionary(
                zip(pages, read.map { ListPage(bytes: $0 ?? []) }), uniquingKeysWith: { first, _ in first })
            for ordinal in part {
                let (page, row) = (chunk.firstOrdinal + Int(ordinal)).quotientAndRemainder(
                    dividingBy: ListPage.size)
                rows.append(found[page]?.rows[checked: row] ?? nil)
            }
        }
        return rows
    }

    /// Extends the expiry of a list, because a campaign to the list begins.
    func keep(_ list: UploadedList) async throws(StoreError) {
        var keys: [ListPageKey] = []
        func flush() async throws(StoreError) {
            _ = try await store.performAll(
                keys.map { ExpireListPage($0, seconds: UploadedList.keepSeconds) })
            keys.removeAll(keepingCapacity: true)
        }
        for (number, group) in list.groups.enumerated() {
            for page in 0..<group.pages {
                keys.append(ListPageKey(version: list.version, group: number, page: page))
                if keys.count == Self.pipeline.keep { try await flush() }
            }
        }
        try await flush()
        // The list may have been removed or replaced meanwhile.
        guard let json = try await store.perform(ReadList(name: list.name)),
            var present = UploadedList(name: list.name, json: json), present.version == list.version
        else { return }
        present.expiresAt =
            store.connection.clock.milliseconds + Int64(UploadedList.keepSeconds) * 1_000
        _ = try await store.perform(SaveList(name: present.name, json: present.json))
    }
}
