import APNs
import RandomTesting
import Testing

@testable import BinaryProtocol

@Suite struct FeedbackTupleTests {
    @Test func `reads and writes the recorded tuple`() throws {
        let recorded = bytes("6553f100 0020") + Vectors.token
        let tuple = FeedbackTuple(time: 0x6553_f100, token: Vectors.token)
        var written: [UInt8] = []
        tuple.append(to: &written)
        #expect(written == recorded && recorded.count == 38)
        #expect(try tuples(in: [recorded]) == [tuple])
    }

    @Test func `reads the same tuples wherever the stream is cut`() throws {
        var random = SplitMix(seed: 2196)
        for _ in 0..<200 {
            let all = (0..<Int.random(in: 0...30, using: &random)).map { _ in
                FeedbackTuple(
                    time: UInt32.random(in: 0...UInt32.max, using: &random),
                    token: random.bytes(random.chance(4) ? Int.random(in: 1...100, using: &random) : 32))
            }
            var stream: [UInt8] = []
            for tuple in all { tuple.append(to: &stream) }
            var parts: [[UInt8]] = []
            while !stream.isEmpty {
                let count = min(stream.count, Int.random(in: 1...90, using: &random))
                parts.append(Array(stream.prefix(count)))
                stream.removeFirst(count)
            }
            #expect(try tuples(in: parts) == all)
        }
    }

    @Test func `an incomplete tuple is not reported`() throws {
        var reader = FeedbackTuple.Reader()
        let part = Array((bytes("6553f100 0020") + Vectors.token).dropLast())
        try part.withUnsafeBytes { try reader.read($0) { _ in Issue.record("told") } }
        #expect(reader.pending == 37)
    }

    @Test(arguments: [0, 101, 65_535]) func `a token length that no service sends is an error`(length: Int) {
        let head = bytes("6553f100") + [UInt8(length >> 8), UInt8(length & 0xff)]
        #expect(throws: FeedbackTuple.Fault(tokenLength: length)) { try tuples(in: [head + [1]]) }
    }

    private func tuples(in parts: [[UInt8]]) throws -> [FeedbackTuple] {
        var reader = FeedbackTuple.Reader()
        var all: [FeedbackTuple] = []
        for part in parts { try part.withUnsafeBytes { try reader.read($0) { all.append($0) } } }
        return all
    }
}
