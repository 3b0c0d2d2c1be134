import APNs
import Testing

struct CertaintyTests {
    @Test(arguments: [
        (Certainty.End.status, Certainty.answered), (.neverSent, .unprocessed), (.aboveGoAway, .unprocessed),
        (.connectionLost, .unknown), (.deadline, .unknown),
    ]) func `knows what an end proves`(end: Certainty.End, certainty: Certainty) {
        #expect(Certainty(of: end) == certainty)
    }

    @Test(arguments: 0...20 as ClosedRange<UInt32>) func `only a refused stream was not processed`(
        code: UInt32
    ) {
        #expect(Certainty(of: .reset(errorCode: code)) == (code == 7 ? .unprocessed : .unknown))
    }

    @Test(arguments: [
        (1, 0, true), (3, 3, false), (5, 3, true), (1, 3, false), (Int32.max, Int32.max, false),
    ])
    func `GOAWAY ends the streams above its last`(stream: Int32, last: Int32, isEnded: Bool) {
        #expect(Certainty.end(ofStream: stream, afterGoAway: last) == (isEnded ? .aboveGoAway : nil))
    }
}
