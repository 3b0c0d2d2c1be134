import RedisClient
import StoreProtocol
import Testing

@testable import pushfarm

struct TopModelTests {
    private func model(_ looks: Int = 1) -> TopModel {
        var model = TopModel()
        for second in 0..<looks { model.take(TopFarm.snapshot(second)) }
        return model
    }

    private func press(_ model: inout TopModel, _ text: String) -> [TopModel.Action] {
        TopKey.keys(in: Array(text.utf8)).map { model.press($0, page: 10) }
    }

    @Test func `keys open a list, open an object and go back`() {
        var model = model()
        #expect(model.view == .list(.apps) && model.selected == .app("news"))
        #expect(press(&model, "\r") == [.refresh])
        #expect(model.view == .app("news") && model.wantsJobs == ["news"])
        #expect(press(&model, "\u{1B}") == [.draw])
        #expect(model.view == .list(.apps) && model.wantsJobs == nil)
        // The first list is the first screen, so the key Escape has no effect.
        #expect(press(&model, "\u{1B}") == [.nothing])
        _ = press(&model, "3")
        #expect(model.view == .list(.hosts))
        _ = press(&model, "j\r")
        #expect(model.view == .host("beta"))
        _ = press(&model, "\r")
        #expect(model.view == .worker(host: "beta", index: "0"))
        _ = press(&model, "\u{7F}\u{7F}")
        #expect(model.view == .list(.hosts) && model.selected == .host("beta"))
        #expect(press(&model, "4") == [.refresh] && model.wantsJobs == ["news", "shop"])
    }

    @Test func `a selected row stays selected when it moves and not when it disappears`() {
        var model = model()
        _ = press(&model, "3j")
        #expect(model.selected == .host("beta"))
        model.take(TopFarm.snapshot(1, hosts: ["aaa", "alpha", "beta"]))
        #expect(model.selected == .host("beta"))
        model.take(TopFarm.snapshot(2, hosts: ["aaa", "alpha"]))
        #expect(model.selected == .host("aaa"))
    }

    @Test func `the selection stops at the ends of a list`() {
        var model = model()
        _ = press(&model, "2kkk")
        let first = model.selected
        _ = press(&model, "jjjjjjjjj")
        let last = model.selected
        #expect(first != last)
        #expect(model.table?.rows.first?.view == first && model.table?.rows.last?.view == last)
        _ = press(&model, "\u{1B}[H")
        #expect(model.selected == first)
    }

    @Test func `a list can be sorted by any column in both directions`() {
        var model = model()
        _ = press(&model, "3")
        func names() -> [TopView] { model.table?.rows.map(\.view) ?? [] }
        #expect(names() == [.host("alpha"), .host("beta")])
        _ = press(&model, "r")
        #expect(names() == [.host("beta"), .host("alpha")])
        var seen: Set<Int> = []
        for _ in 0..<20 {
            _ = press(&model, "s")
            if let column = model.table?.sorted.column { seen.insert(column) }
        }
        let sortable = model.table?.columns.indices.filter { model.table?.columns[$0].isTrend == false } ?? []
        #expect(seen == Set(sortable))
    }

    @Test func `a frozen screen does not change`() {
        var model = model()
        _ = press(&model, "p")
        model.take(TopFarm.snapshot(9, rate: 1))
        #expect(model.snapshot?.status.at == TopFarm.start)
        _ = press(&model, "p")
        model.take(TopFarm.snapshot(10, rate: 1))
        #expect(model.snapshot?.status.at == TopFarm.start + 10_000)
    }

    @Test func `the rate of a job is the settled pushes between two readings`() {
        var model = TopModel()
        for second in 0..<5 {
            model.take(
                TopFarm.snapshot(second, jobs: [TopFarm.job("j", accepted: 1000, delivered: 100 * second)]))
        }
        #expect(model.history.last(TopView.job(app: "news", id: "j").name) == 100)
        #expect(model.remainingSeconds(of: TopFarm.job("j", accepted: 1000, delivered: 400)) == 6)
    }

    @Test func `q and control-C quit even while the help is shown`() {
        var model = model()
        #expect(press(&model, "q") == [.quit] && press(&model, "\u{3}") == [.quit])
        #expect(press(&model, "?") == [.draw] && model.showsHelp)
        #expect(press(&model, "\u{3}") == [.quit])
        #expect(press(&model, "x") == [.draw] && !model.showsHelp)
    }

    @Test func `an outage of Redis counts from the first failed reading`() {
        var model = model()
        model.lost("gone", at: 5)
        model.lost("still gone", at: 9)
        #expect(model.awaySince == 5 && model.awayReason == "still gone")
        model.take(TopFarm.snapshot(3))
        #expect(model.awaySince == nil)
    }
}
