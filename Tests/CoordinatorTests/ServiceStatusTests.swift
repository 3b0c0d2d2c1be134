import Testing

@testable import Coordinator

struct ServiceStatusTests {
    private var running: ServiceStatus {
        ServiceStatus(
            phase: .running, isRedisThere: true, hosts: 3, readyWorkers: 3, workers: 4, rate: 1200, open: 56)
    }

    @Test func `names the serving workers and shards`() {
        #expect(running.text == "3 hosts, 3 of 4 workers ready, 1200 pushes/s, 56 open")
    }

    @Test func `names a few paused apps`() {
        var status = running
        status.hosts = 1
        status.paused = ["b", "a"]
        #expect(status.text.hasPrefix("1 host, ") && status.text.hasSuffix(", paused: a b"))
        status.paused = ["g", "f", "e", "d", "c", "b", "a"]
        #expect(status.text.hasSuffix(", paused: a b c d e and 2 more"))
    }

    @Test func `reports that Redis is unreachable and that the configuration file is refused`() {
        var status = running
        status.isRedisThere = false
        status.refusal = "pushfarm.yaml:3: workers"
        #expect(
            status.text
                == "Redis is away, 3 hosts, 3 of 4 workers ready, 1200 pushes/s, 56 open, "
                + "configuration refused: pushfarm.yaml:3: workers")
    }

    @Test(arguments: [
        (ServiceStatus.Phase.starting, true, "starting"), (.starting, false, "starting: waits for Redis"),
        (.reloading, true, "reloading, 3 hosts, 3 of 4 workers ready, 1200 pushes/s, 56 open"),
        (.stopping, true, "stopping, 3 hosts, 3 of 4 workers ready"),
    ])
    func `names the phase of the service`(phase: ServiceStatus.Phase, isRedisThere: Bool, text: String) {
        var status = running
        (status.phase, status.isRedisThere) = (phase, isRedisThere)
        #expect(status.text == text)
    }
}
