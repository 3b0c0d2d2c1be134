import FarmPolicy
import Testing

struct WorkerPlacementTests {
    private func shards(_ placement: WorkerPlacement, of worker: Int) -> [Int] {
        (0..<64).filter { placement.worker(of: $0) == worker }
    }

    @Test(arguments: 1...9) func `each worker has its share`(size: Int) {
        let placement = WorkerPlacement(shards: 64, size: size)
        for worker in 0..<size {
            #expect(abs(shards(placement, of: worker).count - 64 / size) <= 1)
            #expect(placement.serves(worker))
        }
        #expect(!placement.serves(size) && !placement.isDisturbed)
    }

    @Test func `an inactive worker lends its shards evenly and gets the same ones back`() {
        let before = WorkerPlacement(shards: 64, size: 4)
        var placement = before
        placement.exclude(1)
        #expect(
            !placement.serves(1) && placement.isExcluded(1) && placement.isDisturbed
                && shards(placement, of: 1).isEmpty)
        for worker in [0, 2, 3] {
            let its = shards(placement, of: worker)
            #expect((21...22).contains(its.count))
            // This worker keeps the shards that it had.
            #expect(Set(shards(before, of: worker)).isSubset(of: its))
        }
        placement.resume(1)
        #expect(
            (0..<64).allSatisfy { placement.worker(of: $0) == before.worker(of: $0) } && placement.serves(1))
    }

    @Test func `a quiet worker lends its shards to serving workers only`() {
        let before = WorkerPlacement(shards: 64, size: 3)
        var placement = before
        placement.makeQuiet(0)
        placement.exclude(1)
        #expect(!placement.serves(0) && placement.serves(2) && placement.isQuiet(0) && !placement.isQuiet(1))
        #expect(shards(placement, of: 2).count == 64 && !placement.isAllQuiet)
        placement.resume(1)
        #expect(
            shards(placement, of: 0).isEmpty
                && shards(placement, of: 1).count + shards(placement, of: 2).count == 64)
        placement.resume(0)
        #expect((0..<64).allSatisfy { placement.worker(of: $0) == before.worker(of: $0) })
    }

    @Test func `when all workers are inactive or quiet nothing moves`() {
        let before = WorkerPlacement(shards: 64, size: 2)
        var placement = before
        for worker in 0..<2 { placement.exclude(worker) }
        #expect((0..<64).allSatisfy { placement.worker(of: $0) == before.worker(of: $0) })
        #expect(!placement.serves(0) && !placement.serves(1) && !placement.isAllQuiet)
        var quiet = before
        for worker in 0..<2 { quiet.makeQuiet(worker) }
        #expect((0..<64).allSatisfy { quiet.worker(of: $0) == before.worker(of: $0) })
        #expect(!quiet.serves(0) && !quiet.serves(1) && quiet.isQuiet(0) && quiet.isAllQuiet)
        #expect(quiet.quietWorkers == [0, 1])
        quiet = before
        quiet.isQuiet = true
        #expect(!quiet.serves(1) && quiet.isQuiet(1))
    }

    @Test func `new workers get shards once active and removed workers lose them at once`() {
        var placement = WorkerPlacement(shards: 64, size: 2)
        placement.resize(to: 4)
        #expect(
            placement.size == 4 && placement.active == 2 && shards(placement, of: 3).isEmpty
                && !placement.serves(3))
        placement.activateAll()
        #expect(placement.active == 4 && shards(placement, of: 3).count == 16)
        placement.exclude(3)
        placement.resize(to: 1)
        #expect(placement.active == 1 && shards(placement, of: 0).count == 64 && !placement.isDisturbed)
    }
}
