import FarmPolicy
import RandomTesting
import Testing

struct BucketTests {
    private let start = ContinuousClock.now

    @Test func `fractional rates allow one push at a time`() {
        var bucket = TokenBucket(rate: 0.5, at: start)
        #expect(bucket.available(at: start) == 1)
        bucket.take(1)
        #expect(bucket.available(at: start + .milliseconds(1999)) == 0)
        #expect(bucket.wait > .zero && bucket.wait < .milliseconds(2))
        #expect(bucket.available(at: start + .milliseconds(2001)) == 1)
    }

    @Test func `a pause does not lead to a burst afterwards`() {
        var bucket = TokenBucket(rate: 1000, at: start)
        bucket.take(bucket.available(at: start))
        #expect(bucket.available(at: start + .seconds(3600)) == 50)
    }

    @Test func `a change of the rate allows nothing at once`() {
        var bucket = TokenBucket(rate: 1000, at: start)
        bucket.change(rate: 10, at: start)
        #expect(bucket.available(at: start) == 1)
        bucket.change(rate: 10_000, at: start)
        #expect(bucket.available(at: start) == 1)
        #expect(bucket.available(at: start + .milliseconds(10)) == 101)
    }

    @Test(arguments: [0.5, 3, 77.7, 1000, 40_000]) func `no window exceeds the rate plus one burst`(
        rate: Double
    ) {
        for seed in 0..<40 as Range<UInt64> {
            var random = SplitMix(seed: seed)
            var bucket = TokenBucket(rate: rate, at: start)
            var now = start
            var sent: [(at: ContinuousClock.Instant, count: Int)] = []
            for _ in 0..<300 {
                now +=
                    random.chance(50)
                    ? .seconds(Double.random(in: 0...60, using: &random))
                    : .microseconds(Int.random(in: 0...Int(4_000_000 / rate) + 1000, using: &random))
                let count = min(bucket.available(at: now), Int.random(in: 0...100_000, using: &random))
                bucket.take(count)
                sent.append((now, count))
            }
            for first in sent.indices {
                var sum = 0
                for last in first..<min(first + 60, sent.count) {
                    sum += sent[last].count
                    let seconds = (sent[last].at - sent[first].at) / .seconds(1)
                    guard Double(sum) > rate * seconds + max(1, rate / 20) + 0.001 else { continue }
                    Issue.record("seed \(seed): \(sum) in \(seconds) s")
                }
            }
        }
    }

    @Test func `a sender that waits for the given time gets the whole rate`() {
        for rate in [0.3, 7, 250, 30_000] {
            var bucket = TokenBucket(rate: rate, at: start)
            var (now, sum, wakes) = (start, 0, 0)
            while now < start + .seconds(100) {
                let count = bucket.available(at: now)
                bucket.take(count)
                sum += count
                // Like a real timer, this wait is rounded up to whole milliseconds and ends a millisecond late.
                now += .milliseconds(Int64((bucket.wait / .milliseconds(1)).rounded(.up)) + 1)
                wakes += 1
            }
            #expect(Double(sum) >= 0.95 * rate * 100 - 1 && wakes <= 5000)
        }
    }

    @Test(arguments: [200, 1500, 4000])
    func `bandwidth stays within its limit although it is charged afterwards`(size: Int) {
        for seed in 0..<20 as Range<UInt64> {
            var random = SplitMix(seed: seed)
            let bandwidth = 2_000_000.0
            var bucket = BandwidthBucket(bitsPerSecond: bandwidth, at: start)
            var (now, bytes, total, lookAt) = (start, 0, 0, start)
            while now < start + .seconds(20) {
                let count = bucket.available(at: now)
                bucket.take(count)
                let sent = (0..<count).reduce(0) { sum, _ in
                    sum + Int.random(in: size / 2...size * 3 / 2, using: &random)
                }
                (bytes, total) = (bytes + sent, total + sent)
                if now >= lookAt {
                    bucket.measured(bytes: bytes)
                    (bytes, lookAt) = (0, now + .milliseconds(200))
                }
                now += max(bucket.wait, .milliseconds(1))
            }
            let allowed = bandwidth / 8 * 20
            #expect(
                Double(total) < 1.05 * allowed + 20_000 && Double(total) > 0.8 * allowed,
                "\(total) of \(allowed)")
        }
    }

    @Test(arguments: [200, 2000, 4000]) func `bandwidth stays within its limit from the first push`(size: Int)
    {
        for seed in 0..<20 as Range<UInt64> {
            var random = SplitMix(seed: seed)
            let bandwidth = 800_000.0
            var bucket = BandwidthBucket(bitsPerSecond: bandwidth, at: start)
            var (now, total) = (start, 0)
            while now < start + .seconds(3) {
                let count = bucket.available(at: now)
                bucket.take(count)
                let sent = (0..<count).reduce(0) { sum, _ in
                    sum + Int.random(in: size * 9 / 10...size * 11 / 10, using: &random)
                }
                bucket.measured(bytes: sent)
                total += sent
                let allowed = bandwidth / 8 * ((now - start) / .seconds(1) + 0.05) + Double(2 * size)
                #expect(Double(total) < allowed, "\(total) of \(allowed) after \(now - start)")
                now += max(bucket.wait, .milliseconds(1))
            }
        }
    }

    @Test func `one large push may leave without debt and then nothing until it is paid`() {
        var bucket = BandwidthBucket(bitsPerSecond: 8000, at: start)
        #expect(bucket.available(at: start) == 1)
        bucket.take(1)
        bucket.measured(bytes: 4000)
        #expect(bucket.available(at: start + .seconds(3)) == 0)
        #expect(bucket.wait > .milliseconds(900))
        #expect(bucket.available(at: start + .seconds(5)) == 1)
    }
}
