import EventLoop
import FarmHarness
import Foundation

/// A scenario with a mixture of overlapping faults that the seed chooses.
extension Scenario {
    static let swizzle = Scenario(
        28, "swizzle",
        .with {
            $0.hosts = 2
            $0.appLines = ["request_timeout: 5"]
        }
    ) { stage in
        stage.startFlow()
        stage.expectation.recovery = nil
        stage.expectation.keepsOrder = false
        stage.expectation.hasOneSender = false
        try await stage.again(every: .milliseconds(700)) { try await stage.injectAnyFault() }
        // All stopped processes continue in a random order.
        for host in stage.hosts.shuffled(using: &stage.random) { host.signalAll(SIGCONT) }
        try await stage.restartTheDead()
    }
}

extension Stage {
    fileprivate func injectAnyFault() async throws {
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1: await killWorker()
        case 2:
            let host = hosts[Int.random(in: hosts.indices, using: &random)]
            try await fault("kill coordinator") {
                host.signal(SIGKILL)
                _ = try await host.ended()
                try host.restart()
            }
        case 3:
            let host = hosts[Int.random(in: hosts.indices, using: &random)]
            try await fault("kill host") {
                expectDoubles(host.pids(.worker).count)
                host.signalAll(SIGKILL)
                _ = try await host.ended()
                try await pause(.seconds(1))
                try host.restart()
            }
        case 4: try await stopSome()
        case 5: try await fault("kill Redis") { try await redis.crash() }
        case 6:
            try await fault("scripts and connections lost") {
                try runInRedis("SCRIPT", "FLUSH")
                try runInRedis("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            }
        case 7, 8:
            try await injectFault(redisProxies[Int.random(in: redisProxies.indices, using: &random)], "Redis")
        case 9:
            expectation.doubles += hosts.count * options.workers * 200
            try await injectFault(gatewayProxy, "gateway")
        case 10:
            try await fault("goaway and refusals") {
                try gateway.control("goaway 100")
                try gateway.control("refuse 5%")
                try await pause(.seconds(1))
                try gateway.control("goaway off")
                try gateway.control("refuse off")
            }
        default:
            try await fault("503") {
                try gateway.control("answer 503 share=20%")
                try await pause(.seconds(1))
                try gateway.control("answer off")
            }
        }
    }

    /// Stops some workers one by one, and continues them in another order.
    private func stopSome() async throws {
        let pids = hosts.flatMap { $0.pids(.worker) }.shuffled(using: &random)
        let some = pids.prefix(Int.random(in: 0...pids.count, using: &random))
        try await fault("stop some workers") {
            for pid in some {
                kill(pid, SIGSTOP)
                try await pause(.milliseconds(300))
            }
            try await pause(.seconds(1))
            for pid in some.shuffled(using: &random) { kill(pid, SIGCONT) }
        }
    }
}
