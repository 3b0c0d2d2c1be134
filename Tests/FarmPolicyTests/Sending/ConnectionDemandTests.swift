import FarmPolicy
import Testing

@Suite struct ConnectionDemandTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let text: String
        var most = 28
        var live = 0
        var ending = 0
        var dialling = 0
        var waiting: Int
        let dials: Int
        let headroom: Int

        var testDescription: String { text }
    }

    private static let table = [
        Row(text: "nothing waits", waiting: 0, dials: 0, headroom: 512),
        Row(text: "one push", waiting: 1, dials: 1, headroom: 512),
        Row(text: "a share", waiting: 100, dials: 1, headroom: 512),
        Row(text: "more than a share", waiting: 101, dials: 2, headroom: 512),
        Row(text: "more than all take", waiting: 1_000_000, dials: 28, headroom: 512),
        Row(text: "the greatest number", waiting: .max, dials: 28, headroom: 512),
        Row(text: "dials in progress take a part", dialling: 3, waiting: 450, dials: 2, headroom: 2048),
        Row(text: "dials in progress take all", dialling: 5, waiting: 450, dials: 0, headroom: 3072),
        Row(text: "all but one living", live: 27, waiting: 9_000, dials: 1, headroom: 512),
        Row(text: "all living", live: 28, waiting: 9_000, dials: 0, headroom: 0),
        Row(text: "all on their way", dialling: 28, waiting: 9_000, dials: 0, headroom: 14336),
        Row(text: "too many living", most: 4, live: 9, waiting: 9_000, dials: 0, headroom: 0),
        Row(text: "too many on their way", most: 4, dialling: 9, waiting: 9_000, dials: 0, headroom: 4608),
        Row(text: "none allowed", most: 0, waiting: 9_000, dials: 0, headroom: 0),
        Row(
            text: "all end before a dial is done", live: 28, ending: 28, waiting: 9_000, dials: 28,
            headroom: 512),
        Row(
            text: "some end before a dial is done", live: 28, ending: 10, dialling: 4, waiting: 9_000,
            dials: 6,
            headroom: 2560),
        Row(
            text: "dials and those that stay are as many as allowed", live: 20, ending: 10, dialling: 18,
            waiting: 9_000, dials: 0, headroom: 9216),
        Row(
            text: "dials alone are as many as allowed", live: 28, ending: 28, dialling: 28, waiting: 9_000,
            dials: 0,
            headroom: 14336),
    ]

    @Test(arguments: table) func `the demand gives the number of dials and of held pushes`(row: Row) {
        let demand = ConnectionDemand(
            most: row.most, live: row.live, ending: row.ending, dialling: row.dialling, share: 100,
            part: 100)
        #expect(demand.dials(for: row.waiting) == row.dials)
        #expect(demand.headroom == row.headroom)
    }

    @Test func `returning pushes count for dials before the worker holds them`() {
        var demand = ConnectionDemand(most: 28, live: 10, share: 100, part: 16)
        demand.returning = 100
        #expect(demand.dials(for: 0) == 7 && demand.dials(for: 60) == 10)
        demand.returning = 1_000
        #expect(demand.dials(for: 0) == 18, "as many as are allowed")
    }

    @Test func `held pushes follow the share and dials follow the part`() {
        let demand = ConnectionDemand(most: 28, dialling: 1, share: 1_000, part: 16)
        #expect(demand.headroom == 2_000 && demand.dials(for: 160) == 9)
    }
}
