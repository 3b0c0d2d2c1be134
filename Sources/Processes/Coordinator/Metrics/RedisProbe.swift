import EventLoop
import FarmPolicy
import RedisClient
import RedisProtocol

/// Measures Redis's latency once a second, and counts Redis's outages.
@Loop final class RedisProbe {
    private(set) var latency = LatencyCounts()
    private(set) var outages = 0
    private var isUp = true
    private let redis: RedisConnection
    private var isAsking = false

    init(_ redis: RedisConnection) { self.redis = redis }

    func ask() {
        let isReady = redis.isReady
        if isUp, !isReady { outages += 1 }
        isUp = isReady
        guard isReady, !isAsking else { return }
        isAsking = true
        let start = ContinuousClock.now
        redis.send(RESPCommand("PING")) { [weak self] result in
            guard let self else { return }
            isAsking = false
            guard case .success = result else { return }
            latency.add(UInt64(clamping: (ContinuousClock.now - start) / .milliseconds(1)))
        }
    }
}
