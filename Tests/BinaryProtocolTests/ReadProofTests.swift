import Testing

@testable import BinaryProtocol

@Suite struct ReadProofTests {
    private let start = ContinuousClock.now
    private func at(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

    @Test func `each response proves that the bytes before its request were read`() {
        var proof = ReadProof()
        #expect(!proof.hasResponses && proof.readUpTo == 0)
        proof.asked(behind: 100, at: at(0))
        proof.asked(behind: 250, at: at(60))
        #expect(proof.responded(1) && proof.readUpTo == 100)
        #expect(!proof.responded(1) && proof.readUpTo == 100)
        proof.asked(behind: 300, at: at(120))
        #expect(proof.responded(3) && proof.readUpTo == 300 && proof.hasResponses)
    }

    @Test func `a response to a later request proves that the peer was heard`() {
        var proof = ReadProof()
        proof.asked(behind: 100, at: at(0))
        proof.asked(behind: 100, at: at(50))
        _ = proof.responded(2)
        #expect(proof.repliesArrivedUntil == nil, "both may have been read at once")
        proof.asked(behind: 100, at: at(100))
        proof.asked(behind: 100, at: at(150))
        #expect(proof.responded(3) && proof.repliesArrivedUntil == at(50))
        #expect(proof.responded(4) && proof.repliesArrivedUntil == at(50))
        proof.asked(behind: 100, at: at(200))
        #expect(proof.responded(5) && proof.repliesArrivedUntil == at(150))
    }

    @Test func `more responses than requests prove nothing`() {
        var proof = ReadProof()
        #expect(proof.responded(2) && proof.readUpTo == 0 && proof.repliesArrivedUntil == nil)
        proof.asked(behind: 100, at: at(0))
        #expect(!proof.responded(2) && proof.readUpTo == 0)
    }

    @Test func `an open request gets a second one and then hardly more`() {
        var proof = ReadProof()
        var asked: [Int] = []
        for milliseconds in 0..<60_000 where proof.mayAsk(at: at(milliseconds)) {
            proof.asked(behind: 100, at: at(milliseconds))
            asked.append(milliseconds)
        }
        #expect(asked == [0, 1] + (1...14).map { 1 + $0 * 1000 })
        #expect(proof.responded(15) && proof.mayAsk(at: at(60_000)))
    }
}
