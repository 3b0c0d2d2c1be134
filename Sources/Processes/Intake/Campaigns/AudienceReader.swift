import Campaigns
import EventLoop
import Logging
import RedisClient
import Registry
import Segments
import StoreProtocol

/// Reads the audience of campaigns from an app's registry and from uploaded lists: one chunk of ordinals at a time, so that memory
/// is bounded.
@Loop final class AudienceReader {
    /// How long saved segments and the names of attributes may be remembered. A device is in the audience if it is a member
    /// when its chunk is sent, and an attribute that is newer than this time may be missed.
    private static let memory = Duration.seconds(3)

    private let store: AppRedis
    /// The connection to the Redis with the app's registry.
    private var registry: RedisConnection
    private let log: Logger
    let lists: ListReader
    private var reader: RegistryReader?
    private var states: (read: ContinuousClock.Instant, partitions: [PartitionState])?
    private var saved: [String: (read: ContinuousClock.Instant, expression: SegmentExpression)] = [:]

    init(store: AppRedis, registry: RedisConnection, log: Logger) {
        (self.store, self.registry, self.log) = (store, registry, log)
        lists = ListReader(store: store)
    }

    /// Reads the registry from this Redis from now on.
    func use(_ registry: RedisConnection) {
        guard registry !== self.registry else { return }
        self.registry = registry
        (reader, states) = (nil, nil)
    }

    // MARK: Segments and lists

    /// Why a campaign's audience cannot be read.
    struct Trouble: Error, CustomStringConvertible {
        let description: String
    }

    /// Finds the segment or the list of an audience.
    ///
    /// - Parameter version: the upload of the list that the campaign has begun with; nil before the campaign begins.
    /// - Returns: the trouble as text if the segment or the list does not exist, or cannot be read.
    func audience(
        _ audience: Campaign.Audience, version: String?
    ) async throws(StoreError) -> Result<CampaignAudience, Trouble> {
        switch audience {
        case .expression(let expression): return .success(.segment(expression))
        case .list(let name): return try await lists.list(name, version: version).map { .list($0) }
        case .saved(let name): return try await expression(ofSaved: name).map { .segment($0) }
        }
    }

    private func expression(
        ofSaved name: String
    ) async throws(StoreError) -> Result<SegmentExpression, Trouble> {
        if let known = saved[name], known.read.duration(to: .now) < Self.memory {
            return .success(known.expression)
        }
        let segments = try await store.perform(ReadSegments())
        guard let segment = segments.segments.first(where: { $0.name == name }) else {
            return .failure(
                Trouble(
                    description: segments.unreadable.contains(name)
                        ? "the segment \"\(name)\" cannot be read" : "there is no segment \"\(name)\""))
        }
        do throws(SegmentError) {
            let expression = try SegmentExpression(parsing: segment.expression)
            if saved.count >= SavedSegment.most { saved = [:] }
            saved[name] = (.now, expression)
            return .success(expression)
        } catch {
            return .failure(Trouble(description: "the segment \"\(name)\" is not valid: \(error)"))
        }
    }

    /// For each partition or group of rows, the first ordinal that is not in the audience of a campaign that begins now.
    func audienceEnds(of audience: CampaignAudience) async throws(StoreError) -> [Int] {
        switch audience {
        case .segment: try await partitions().map(\.next)
        case .list(let list): list.audienceEnds
        }
    }

    // MARK: Partitions

    /// The state of all partitions, which is at most ``memory`` old.
    func partitions() async throws(StoreError) -> [PartitionState] {
        if let states, states.read.duration(to: .now) < Self.memory { return states.partitions }
        let partitions = try await reading { () throws(StoreError) in try await open().partitions() }
        states = (.now, partitions)
        return partitions
    }

    /// Checks whether the registry can be reached.
    func probe() async throws(StoreError) {
        states = nil
        _ = try await partitions()
    }

    /// Reads from the registry.
    ///
    /// - Throws: ``StoreError/registryUnavailable(_:)`` if the registry has its own Redis, which cannot be reached.
    private func reading<Value>(
        _ call: @Loop () async throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        do throws(StoreError) { return try await call() } catch {
            guard case .redis(let reason) = error, reason.isTemporary, registry !== store.connection else {
                throw error
            }
            throw .registryUnavailable(reason)
        }
    }

    /// The names of the time zones that devices or rows have. For a segment, also the names that devices had.
    func zoneNames(of audience: CampaignAudience) async throws(StoreError) -> Set<String> {
        if case .list(let list) = audience { return list.zoneNames }
        let prefix = AttributeName.zone("").text
        var names: Set<String> = []
        for partition in try await partitions() {
            for (name, _) in partition.names.all where name.text.utf8.starts(with: prefix.utf8) {
                names.insert(String(name.text.utf8.dropFirst(prefix.utf8.count)) ?? "")
            }
        }
        return names
    }

    private func open() async throws(StoreError) -> RegistryReader {
        // The number of partitions is fixed when the first device is registered, so a reader of an empty registry is not kept.
        if let reader, let states, states.partitions.contains(where: { $0.next > 0 }) { return reader }
        let opened = try await RegistryReader.open(app: store.keys.app, connection: registry)
        reader = opened
        return opened
    }

    // MARK: Chunks

    /// Reads which devices of a chunk are in parts of the audience.
    ///
    /// - Returns: the devices of each part, in order; nil if a bitmap cannot be read.
    func members(
        of parts: [CampaignGroup.Members], of audience: CampaignAudience, in chunk: AudienceChunk, today: Int
    ) async throws(StoreError) -> [OrdinalChunk]? {
        switch audience {
        case .list(let list): parts.map { list.members(of: $0, in: chunk) }
        case .segment(let segment):
            try await members(of: parts.map { $0.expression(in: segment) }, in: chunk, today: today)
        }
    }

    private func members(
        of expressions: [SegmentExpression], in chunk: AudienceChunk, today: Int
    ) async throws(StoreError) -> [OrdinalChunk]? {
        let partitions = try await partitions()
        let nobody = Array(repeating: OrdinalChunk(), count: expressions.count)
        guard let reader, let state = partitions[checked: chunk.partition], chunk.number < state.chunks else {
            return nobody
        }
        let plan = SegmentPlan(expressions, state.attributes, today: today)
        guard !plan.numbers.isEmpty else { return nobody }
        let evaluation = try await reading { () throws(StoreError) in
            try await reader.evaluation(of: plan, partition: chunk.partition, chunk: chunk.number)
        }
        return evaluation.map { evaluation in expressions.indices.map { evaluation.devices(of: $0) } }
    }

    /// Reads bits of campaigns.
    ///
    /// - Parameter keys: keys without the prefix of the app's keys.
    /// - Returns: the bits in the order of the keys; nil for a key whose bytes are not the bits of a chunk.
    func bits(_ keys: [String]) async throws(StoreError) -> [OrdinalChunk?] {
        let strings = try await store.perform(ReadStrings(keys))
        var bits: [OrdinalChunk?] = []
        // MGET returns nothing for a key of another type, too.
        let missing = zip(keys, strings).filter { $0.1 == nil }.map { ReadKeyType($0.0) }
        var types = try await store.performAll(missing)[...]
        for bytes in strings {
            if let bytes {
                bits.append(OrdinalChunk(bytes: bytes))
            } else {
                bits.append(types.popFirst() == "none" ? OrdinalChunk() : nil)
            }
        }
        return bits
    }

    /// Reads the records of devices of a chunk.
    func devices(_ ordinals: [UInt16], of chunk: AudienceChunk) async throws(StoreError) -> DevicePage {
        guard let reader else { return DevicePage() }
        let places = ordinals.map { ordinal in
            DevicePlace(partition: chunk.partition, ordinal: chunk.firstOrdinal + Int(ordinal))
        }
        return try await reading { () throws(StoreError) in try await reader.readableDevices(at: places) }
    }

    /// The ids and the places of devices. Ids that the registry does not have are left out.
    func namedPlaces(ofDevices ids: [String]) async throws(StoreError) -> [(id: String, place: DevicePlace)] {
        _ = try await partitions()
        return try await reading { () throws(StoreError) in
            try await reader?.namedPlaces(ofDevices: ids) ?? []
        }
    }

    /// The places of devices by their ids. Ids that the registry does not have are left out.
    func places(ofDevices ids: [String]) async throws(StoreError) -> [DevicePlace] {
        try await namedPlaces(ofDevices: ids).map(\.place)
    }
}
