import FarmPolicy
import Testing

struct MembershipTests {
    private let start = ContinuousClock.now
    private func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }
    private func host(_ name: String, _ capacity: Int = 2, _ apps: Set<String> = ["demo"]) -> Membership.Host
    {
        Membership.Host(name: name, capacity: capacity, apps: apps)
    }

    @Test func `a host that joins counts at once`() {
        var membership = Membership(now: start)
        #expect(membership.observe([host("a")], at: at(0)) == .init(come: ["a"], gone: []))
        #expect(membership.observe([host("a")], at: at(1)) == nil)
        #expect(membership.observe([host("b"), host("a")], at: at(2)) == .init(come: ["b"], gone: []))
        #expect(membership.hosts.map(\.name) == ["a", "b"])
    }

    @Test func `a host that is missing for a moment is no change`() {
        var membership = Membership(now: start)
        _ = membership.observe([host("a"), host("b")], at: at(0))
        #expect(membership.observe([host("a")], at: at(20)) == nil)
        #expect(membership.observe([host("a")], at: at(22.9)) == nil)
        #expect(membership.observe([host("a"), host("b")], at: at(22.95)) == nil)
        #expect(membership.isStable(at: at(23)))
        // The membership changes only if a host is missing for three seconds without interruption. Host "b" was seen at 22.95, so
        // the three seconds start again at 24.
        #expect(membership.observe([host("a")], at: at(24)) == nil)
        #expect(membership.observe([host("a")], at: at(26)) == nil)
        #expect(membership.observe([host("a")], at: at(27)) == .init(come: [], gone: ["b"]))
    }

    @Test func `a host that announced its exit is removed at once`() {
        var membership = Membership(now: start)
        _ = membership.observe([host("a"), host("b")], at: at(0))
        membership.announcedExit(of: "b", at: at(20))
        #expect(membership.observe([host("a")], at: at(20)) == .init(come: [], gone: ["b"]))
        // Host "b" announces its exit, but is seen again. When it is missing later, this absence is a new one, so the three
        // seconds apply.
        _ = membership.observe([host("a"), host("b")], at: at(30))
        membership.announcedExit(of: "b", at: at(31))
        #expect(membership.observe([host("a"), host("b")], at: at(32)) == nil)
        #expect(membership.observe([host("a")], at: at(33)) == nil)
    }

    @Test func `membership is settled after ten seconds without a change`() {
        var membership = Membership(now: start)
        _ = membership.observe([host("a")], at: at(0))
        #expect(!membership.isStable(at: at(9.9)) && membership.isStable(at: at(10)))
        let changes = [[host("a", 3)], [host("a", 3, [])], [host("a", 3, []), host("b")]]
        for (step, change) in changes.enumerated() {
            let time = Double(20 * (step + 1))
            #expect(membership.observe(change, at: at(time)) != nil)
            #expect(!membership.isStable(at: at(time + 9.9)) && membership.isStable(at: at(time + 10)))
        }
    }

    @Test func `an app is shared among the hosts that configure it`() {
        var membership = Membership(now: start)
        _ = membership.observe([host("a", 2, ["x", "y"]), host("b", 2, ["y"]), host("c", 2, [])], at: at(0))
        let owners = { (app: String) in
            Set((0..<64).compactMap { membership.shares(of: app).owner(ofShard: $0) })
        }
        #expect(owners("x") == ["a"] && owners("y") == ["a", "b"] && owners("z") == [])
    }
}
