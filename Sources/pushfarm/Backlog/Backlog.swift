import EventLoop
import PushModel
import StoreProtocol

/// The open pushes of an app by lane and state, and their rate.
struct Backlog: Sendable {
    struct LaneBacklog: Equatable, Sendable {
        /// Batched pushes that are ready for a worker.
        var queued = 0
        /// Pushes that a worker has checked out.
        var inFlight = 0
        /// Pushes that wait for their start time or for a retry.
        var delayed = 0
        /// Pushes of a paused job or token, or in a quarantined batch.
        var paused = 0
        /// The time when the oldest queued or in-flight batch was split, in Unix milliseconds.
        var oldest: Int64?
    }

    let app: String
    var lanes: [Lane: LaneBacklog] = [.high: LaneBacklog(), .bulk: LaneBacklog()]
    /// Jobs that are not split yet.
    var inbox = 0
    /// Pushes whose outcomes are reported and not settled.
    var unsettled = 0
    /// Pushes per second that get an outcome, or nil when the rate was not measured.
    var rate: Double?
    /// The reason for the app's pause, or nil when the app is not paused.
    var pause: String?

    /// Pushes that are neither delayed nor paused, including pushes in flight and unsettled pushes.
    var due: Int { lanes.values.reduce(0) { $0 + $1.queued + $1.inFlight } + unsettled }

    /// The time that the backlog takes at the present rate, or nil when the rate is 0 or unknown.
    var remaining: Duration? {
        guard due > 0 else { return .zero }
        guard let rate, rate > 0 else { return nil }
        return .milliseconds(Int64(clamping: (Double(due) / rate * 1000).rounded(.up)))
    }

    @Loop static func read(_ app: String, _ client: FarmClient) async throws(CommandFailure) -> Backlog {
        var backlog = Backlog(app: app)
        let load = try await client.call(ReadPushCounts(), app)
        let depths = try await client.call(ReadDepths(shards: 0), app)
        backlog.inbox = depths.inbox + depths.taken
        backlog.pause = try await client.call(ReadAppState(), app).pause?.reason
        let delayed = try await all(.delayed, app, client)
        let pausedBatches = try await all(.paused, app, client)
        var cursor: String? = "0"
        var inBatches = 0
        while let from = cursor {
            let page = try await client.call(ScanStates(cursor: from), app)
            for case (let id, let state?) in page.items {
                inBatches += state.open + state.paused
                backlog.add(state, of: id, isDelayed: delayed.contains, isPaused: pausedBatches.contains)
            }
            cursor = page.next
        }
        // A push that was split or settled during this function is in only one of the two counts, so the difference may
        // be negative.
        backlog.unsettled = max(0, load.open - inBatches)
        return backlog
    }

    @Loop private static func all(
        _ kind: ListDelayedOrPaused.Kind, _ app: String, _ client: FarmClient
    ) async throws(CommandFailure) -> Set<String> {
        var found: Set<String> = []
        var start = 0
        while true {
            let some = try await client.call(ListDelayedOrPaused(kind, start: start), app)
            if some.isEmpty { return found }
            found.formUnion(some)
            start += some.count
        }
    }

    mutating func add(
        _ state: BatchState, of id: BatchID, isDelayed: (String) -> Bool, isPaused: (String) -> Bool
    ) {
        var lane = lanes[id.lane ?? .high] ?? LaneBacklog()
        lane.paused += state.paused
        if isDelayed("\(id)") {
            lane.delayed += state.open
        } else if isPaused("\(id)") {
            lane.paused += state.open
        } else {
            if state.worker.isEmpty { lane.queued += state.open } else { lane.inFlight += state.open }
            if let madeAt = id.madeAt, state.open > 0 {
                lane.oldest = min(lane.oldest ?? madeAt, madeAt)
            }
        }
        lanes[id.lane ?? .high] = lane
    }

    /// - Parameter now: Unix milliseconds of Redis's clock.
    func json(at now: Int64) -> JSONValue {
        .object([
            "app": .string(app), "inbox": .number(inbox), "unsettled": .number(unsettled),
            "lanes": .array(
                Lane.allCases.map { lane in
                    let backlog = lanes[lane] ?? LaneBacklog()
                    return .object([
                        "lane": .string(lane.name), "queued": .number(backlog.queued),
                        "in_flight": .number(backlog.inFlight), "delayed": .number(backlog.delayed),
                        "paused": .number(backlog.paused),
                        "oldest_ms": .whole(backlog.oldest.map { max(0, now - $0) }),
                    ])
                }),
            "rate": rate.map { .decimal(($0 * 10).rounded() / 10) } ?? .null,
            "remaining_ms": .whole(remaining?.clampedMilliseconds),
            "paused_reason": .text(pause),
        ])
    }
}
