import Testing

@testable import FarmPolicy

struct StrayInboxesTests {
    private let start = ContinuousClock.now

    @Test func `an inbox without a configured app is reported after a while until it is empty`() {
        var inboxes = StrayInboxes()
        inboxes.observe(["shp", "shop"], configured: ["shop"], at: start)
        #expect(inboxes.names == ["shp"])
        inboxes.count("shp", jobs: 3)
        inboxes.count("shop", jobs: 9)
        #expect(inboxes.reported(at: start + .seconds(9)).isEmpty)
        #expect(inboxes.reported(at: start + StrayInboxes.gracePeriod) == [.init(name: "shp", jobs: 3)])
        // The farm finds the inbox a second time, which does not restart the delay before the report.
        inboxes.observe(["shp"], configured: ["shop"], at: start + .seconds(9))
        inboxes.count("shp", jobs: 4)
        #expect(inboxes.reported(at: start + StrayInboxes.gracePeriod) == [.init(name: "shp", jobs: 4)])
        inboxes.count("shp", jobs: 0)
        #expect(inboxes.names.isEmpty && inboxes.reported(at: start + .seconds(99)).isEmpty)
    }

    @Test func `an inbox is not reported when a coordinator configures its app later`() {
        var inboxes = StrayInboxes()
        inboxes.observe(["new"], configured: [], at: start)
        inboxes.count("new", jobs: 1)
        inboxes.observe([], configured: ["new"], at: start + .seconds(5))
        #expect(inboxes.reported(at: start + .seconds(99)).isEmpty)
        // The inbox disappears and returns, so the delay restarts.
        inboxes.observe(["new"], configured: [], at: start + .seconds(20))
        inboxes.count("new", jobs: 1)
        #expect(inboxes.reported(at: start + .seconds(29)).isEmpty)
        #expect(inboxes.reported(at: start + .seconds(30)).count == 1)
    }

    @Test func `an inbox that never counted is not reported`() {
        var inboxes = StrayInboxes()
        inboxes.observe(["x"], configured: [], at: start)
        #expect(inboxes.reported(at: start + .seconds(99)).isEmpty)
    }

    @Test func `the number of remembered inboxes is bounded`() {
        var inboxes = StrayInboxes()
        inboxes.observe((0..<1000).map { "x\($0)" }, configured: [], at: start)
        #expect(inboxes.names.count == StrayInboxes.most)
        inboxes.removeAll()
        #expect(inboxes.names.isEmpty)
    }
}
