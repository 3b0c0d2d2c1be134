import FarmPolicy
import Testing

struct CrewTests {
    private func shards(_ crew: Crew, of place: Int) -> [Int] {
        (0..<64).filter { crew.place(of: $0) == place }
    }

    @Test(arguments: 1...9) func `each place has its part`(size: Int) {
        let crew = Crew(shards: 64, size: size)
        for place in 0..<size {
            #expect(abs(shards(crew, of: place).count - 64 / size) <= 1)
            #expect(crew.serves(place))
        }
        #expect(!crew.serves(size) && !crew.isDisturbed)
    }

    @Test func `a place that rests lends its shards evenly, and has the same ones back`() {
        let before = Crew(shards: 64, size: 4)
        var crew = before
        crew.rest(1)
        #expect(!crew.serves(1) && crew.isResting(1) && crew.isDisturbed && shards(crew, of: 1).isEmpty)
        for place in [0, 2, 3] {
            let its = shards(crew, of: place)
            #expect((21...22).contains(its.count))
            // Its own stay with it.
            #expect(Set(shards(before, of: place)).isSubset(of: its))
        }
        crew.wake(1)
        #expect((0..<64).allSatisfy { crew.place(of: $0) == before.place(of: $0) } && crew.serves(1))
    }

    @Test func `a quiet place lends its shards to those that serve, and to none that rests`() {
        let before = Crew(shards: 64, size: 3)
        var crew = before
        crew.hush(0)
        crew.rest(1)
        #expect(!crew.serves(0) && crew.serves(2) && crew.isQuiet(0) && !crew.isQuiet(1))
        #expect(shards(crew, of: 2).count == 64 && !crew.isAllQuiet)
        crew.wake(1)
        #expect(shards(crew, of: 0).isEmpty && shards(crew, of: 1).count + shards(crew, of: 2).count == 64)
        crew.wake(0)
        #expect((0..<64).allSatisfy { crew.place(of: $0) == before.place(of: $0) })
    }

    @Test func `when all rest, or are quiet, nobody serves and nothing moves`() {
        let before = Crew(shards: 64, size: 2)
        var crew = before
        for place in 0..<2 { crew.rest(place) }
        #expect((0..<64).allSatisfy { crew.place(of: $0) == before.place(of: $0) })
        #expect(!crew.serves(0) && !crew.serves(1) && !crew.isAllQuiet)
        var quiet = before
        for place in 0..<2 { quiet.hush(place) }
        #expect((0..<64).allSatisfy { quiet.place(of: $0) == before.place(of: $0) })
        #expect(!quiet.serves(0) && !quiet.serves(1) && quiet.isQuiet(0) && quiet.isAllQuiet)
        #expect(quiet.quietPlaces == [0, 1])
        quiet = before
        quiet.isQuiet = true
        #expect(!quiet.serves(1) && quiet.isQuiet(1))
    }

    @Test func `newcomers have nothing before they are seated, and those that go nothing at once`() {
        var crew = Crew(shards: 64, size: 2)
        crew.resize(to: 4)
        #expect(crew.size == 4 && crew.seated == 2 && shards(crew, of: 3).isEmpty && !crew.serves(3))
        crew.seatAll()
        #expect(crew.seated == 4 && shards(crew, of: 3).count == 16)
        crew.rest(3)
        crew.resize(to: 1)
        #expect(crew.seated == 1 && shards(crew, of: 0).count == 64 && !crew.isDisturbed)
    }
}
