import PushModel
import Segments
import Testing

struct RandomSampleTests {
    @Test(arguments: [(0, 0), (4, 4), (10, 10), (1000, 10)])
    func `a sample has ten different elements, or all of fewer`(offered: Int, wanted: Int) {
        var random = SeededRandom(seed: 1)
        var sample = RandomSample<Int>(size: 10)
        for start in stride(from: 0, to: offered, by: 100) {
            sample.offer(min(100, offered - start), using: &random) { start + $0 }
        }
        #expect(sample.offered == offered && sample.elements.count == wanted)
        #expect(Set(sample.elements).count == wanted && sample.elements.allSatisfy { $0 < offered })
    }

    @Test func `each element is chosen about equally often`() {
        var random = SeededRandom(seed: 2)
        var counts = [Int](repeating: 0, count: 40)
        for _ in 0..<2000 {
            var sample = RandomSample<Int>(size: 10)
            sample.offer(15, using: &random) { $0 }
            sample.offer(25, using: &random) { 15 + $0 }
            for element in sample.elements { counts[element] += 1 }
        }
        // The expected count of each element is 500, with a standard deviation of 19.
        #expect(counts.allSatisfy { (400...600).contains($0) }, "\(counts)")
    }
}
