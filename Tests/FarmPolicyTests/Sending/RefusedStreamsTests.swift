import FarmPolicy
import RandomTesting
import Testing

struct RefusedStreamsTests {
    private static let start = ContinuousClock().systemEpoch

    private func at(_ milliseconds: Int) -> ContinuousClock.Instant {
        Self.start + .milliseconds(milliseconds)
    }

    private func refuse(_ count: Int, _ streams: inout RefusedStreams, _ random: inout SplitMix) {
        for _ in 0..<count { streams.noteUnprocessed(isRefused: true, using: &random) }
    }

    @Test func `after twenty refusals in a row single streams are tried after growing delays`() {
        var (random, streams) = (SplitMix(seed: 3), RefusedStreams(start: Self.start))
        refuse(19, &streams, &random)
        #expect(streams.room(of: 100) == 100 && streams.isUnrestricted)
        refuse(1, &streams, &random)
        #expect(streams.room(of: 100) == 0 && !streams.isUnrestricted)
        // The other streams were in flight when the twentieth refusal arrived, so their refusals do not change the delay.
        refuse(500, &streams, &random)
        var now = 0
        for longest in [500, 1000, 2000, 4000, 8000, 8000, 8000] {
            streams.poll(at: at(now + longest / 2 - 1))
            #expect(streams.room(of: 100) == 0, "\(longest)")
            now += longest
            streams.poll(at: at(now))
            #expect(streams.room(of: 100) == 1 && streams.room(of: 0) == 0, "\(longest)")
            streams.sent()
            #expect(streams.room(of: 100) == 0)
            refuse(1, &streams, &random)
        }
        #expect(streams.isLasting && !streams.wasOfUse)
        streams.responded()
        #expect(streams.room(of: 100) == 100 && streams.isUnrestricted && !streams.isLasting)
    }

    @Test func `a response in between resets the count`() {
        var (random, streams) = (SplitMix(seed: 3), RefusedStreams(start: Self.start))
        for _ in 0..<50 {
            refuse(19, &streams, &random)
            streams.responded()
        }
        #expect(streams.room(of: 100) == 100)
    }

    @Test func `a trial without a response is followed by another after a delay`() {
        var (random, streams) = (SplitMix(seed: 3), RefusedStreams(start: Self.start))
        refuse(20, &streams, &random)
        streams.poll(at: at(500))
        streams.sent()
        streams.poll(at: at(5000))
        #expect(streams.room(of: 100) == 0)
        streams.endedWithoutResponse(using: &random)
        streams.poll(at: at(6000))
        #expect(streams.room(of: 100) == 1)
    }

    @Test(arguments: [
        (0, 0, false), (1, 0, true), (1, 19, true), (1, 20, false), (2, 999, false), (100, 999, true),
        (0, 5, false),
    ])
    func `a connection is useful if one stream in twenty gets a response`(
        responses: Int, unprocessed: Int, isOfUse: Bool
    ) {
        var (random, streams) = (SplitMix(seed: 3), RefusedStreams(start: Self.start))
        for _ in 0..<responses { streams.responded() }
        for _ in 0..<unprocessed { streams.noteUnprocessed(isRefused: false, using: &random) }
        #expect(streams.wasOfUse == isOfUse && streams.isUnrestricted)
    }
}
