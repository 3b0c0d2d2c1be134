import Testing

@testable import FarmStore
@testable import pushfarm

/// What counts as trouble, and so makes `status` end with 1.
struct FarmStatusTests {
    private func status(worker: String = "ready", unowned: Int = 0, isOwned: Bool = true, open: Int = 0)
        -> FarmStatus
    {
        let line =
            #"{"host":"a","state":"running","intake":{"state":"ready"},"workers":[{"worker":"1","state":"\#(worker)"}]}"#
        let app = AppStatus(
            app: "demo", pause: nil, full: nil,
            depths: ReadDepths.Reply(
                inbox: 0, taken: 0, delayed: 0, results: 0, parked: 0, open: open, shards: []),
            openJobs: 0, owners: isOwned ? [.init(host: "a", leaseLeft: .seconds(3))] : [], unowned: unowned)
        return FarmStatus(
            hosts: [HostStatus(name: "a", json: Array(line.utf8), isAlive: true)], apps: [app],
            redis: RedisInfo(""))
    }

    @Test func `a worker that was given up is trouble`() {
        #expect(status().troubles.isEmpty)
        #expect(status(worker: "starting").troubles.isEmpty)
        #expect(status(worker: "failed").troubles == ["worker 1 of a was given up, see its log"])
    }

    @Test func `shards without an owner are trouble, unless the app is over`() {
        #expect(status(unowned: 2).troubles == ["demo: 2 of its shards have no owner"])
        #expect(status(unowned: 65, isOwned: false, open: 1).troubles.count == 1)
        #expect(status(unowned: 65, isOwned: false).troubles.isEmpty)
    }
}
