import Testing

@testable import FarmPolicy

struct StrayInboxesTests {
    private let start = ContinuousClock.now

    @Test func `an inbox of no configured app is reported after a while, and no longer once it is empty`() {
        var inboxes = StrayInboxes()
        inboxes.observe(["shp", "shop"], configured: ["shop"], at: start)
        #expect(inboxes.names == ["shp"])
        inboxes.count("shp", jobs: 3)
        inboxes.count("shop", jobs: 9)
        #expect(inboxes.reported(at: start + .seconds(9)).isEmpty)
        #expect(inboxes.reported(at: start + StrayInboxes.gracePeriod) == [.init(name: "shp", jobs: 3)])
        // It is seen again, and not counted from then on.
        inboxes.observe(["shp"], configured: ["shop"], at: start + .seconds(9))
        inboxes.count("shp", jobs: 4)
        #expect(inboxes.reported(at: start + StrayInboxes.gracePeriod) == [.init(name: "shp", jobs: 4)])
        inboxes.count("shp", jobs: 0)
        #expect(inboxes.names.isEmpty && inboxes.reported(at: start + .seconds(99)).isEmpty)
    }

    @Test func `it is not reported when a coordinator configures the app after all`() {
        var inboxes = StrayInboxes()
        inboxes.observe(["new"], configured: [], at: start)
        inboxes.count("new", jobs: 1)
        inboxes.observe([], configured: ["new"], at: start + .seconds(5))
        #expect(inboxes.reported(at: start + .seconds(99)).isEmpty)
        // Gone, and back: the wait begins again.
        inboxes.observe(["new"], configured: [], at: start + .seconds(20))
        inboxes.count("new", jobs: 1)
        #expect(inboxes.reported(at: start + .seconds(29)).isEmpty)
        #expect(inboxes.reported(at: start + .seconds(30)).count == 1)
    }

    @Test func `one that was never counted is not reported`() {
        var inboxes = StrayInboxes()
        inboxes.observe(["x"], configured: [], at: start)
        #expect(inboxes.reported(at: start + .seconds(99)).isEmpty)
    }

    @Test func `however many there are, so many are kept`() {
        var inboxes = StrayInboxes()
        inboxes.observe((0..<1000).map { "x\($0)" }, configured: [], at: start)
        #expect(inboxes.names.count == StrayInboxes.most)
        inboxes.removeAll()
        #expect(inboxes.names.isEmpty)
    }
}
