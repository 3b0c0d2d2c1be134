import Testing

@testable import RedisClient
@testable import StoreProtocol
@testable import pushfarm

/// Checks which states are problems, so that `status` exits with 1.
struct FarmStatusTests {
    private func status(worker: String = "ready", unowned: Int = 0, isOwned: Bool = true, open: Int = 0)
        -> FarmStatus
    {
        let line =
            #"{"host":"a","state":"running","intake":{"state":"ready"},"workers":[{"worker":"1","state":"\#(worker)"}]}"#
        let app = AppStatus(
            app: "demo", pause: nil, full: nil,
            depths: ReadDepths.Reply(
                inbox: 0, taken: 0, delayed: 0, results: 0, paused: 0, open: open, shards: []),
            openJobs: 0, owners: isOwned ? [.init(host: "a", leaseRemaining: .seconds(3))] : [],
            unowned: unowned)
        return FarmStatus(
            hosts: [HostStatus(name: "a", json: Array(line.utf8), isAlive: true)], apps: [app],
            redis: RedisInfo(""))
    }

    @Test func `a worker that was given up is a problem`() {
        #expect(status().troubles.isEmpty)
        #expect(status(worker: "starting").troubles.isEmpty)
        #expect(status(worker: "failed").troubles == ["worker 1 of a was given up, see its log"])
    }

    /// - Parameters:
    ///   - states: the states of the hosts.
    ///   - worker: the state of the single worker of each host.
    private func idle(_ states: [String], worker: String = "ready", pausedShards: [ReadPauses.Item] = [])
        -> FarmStatus
    {
        var status = status(open: 5)
        status.hosts = states.enumerated().map { number, state in
            let line =
                #"{"host":"h\#(number)","state":"\#(state)","workers":[{"worker":"0","state":"\#(worker)","shards":3}]}"#
            return HostStatus(name: "h\(number)", json: Array(line.utf8), isAlive: true)
        }
        status.apps[0].pausedShards = pausedShards
        return status
    }

    @Test func `a quiet host, a quiet worker and a paused shard are problems`() {
        #expect(
            idle(["running", "quiet"]).troubles == [
                "h1 is quiet: its shards are not served until pushfarm resume h1"
            ])
        #expect(
            idle(["running"], worker: "quiet").troubles
                == ["worker 0 of h0 is quiet: its shards are not served until it is restarted"])
        let pause = ReadPauses.Item(
            name: Array("07".utf8), since: 0, kind: "pause", by: "ann@ops-1", reason: "loops")
        #expect(
            idle(["running"], pausedShards: [pause]).troubles
                == ["demo: shard 7 is not served: paused by ann@ops-1: loops"])
    }

    @Test func `a drained host is a problem only without another host`() {
        #expect(idle(["running", "drained"]).troubles.isEmpty)
        #expect(
            idle(["drained", "drained"]).troubles
                == ["nothing is sent: h0, h1 drained; reload brings a host back"])
    }

    @Test func `the age of an alert counts to now`() {
        var status = status(open: 5)
        status.alerts = [
            .init(
                id: "backlog_age app demo ", level: 1, since: 0,
                text: "demo: the oldest push has waited 6 s")
        ]
        #expect(status.troubles == ["demo: the oldest push has waited 6 s"])
        status.apps[0].ages = ReadAges.Reply(high: .seconds(754), bulk: nil)
        #expect(status.troubles == ["demo: the oldest push has waited 12 min"])
    }

    @Test func `shards without an owner are a problem unless the app was removed`() {
        #expect(status(unowned: 2).troubles == ["demo: 2 of its shards have no owner"])
        #expect(status(unowned: 65, isOwned: false, open: 1).troubles.count == 1)
        #expect(status(unowned: 65, isOwned: false).troubles.isEmpty)
    }
}
