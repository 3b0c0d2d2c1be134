import EventLoop
package import Logging

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

extension SimulatedGateway {
    /// Serves until SIGINT, SIGTERM or the `stop` command.
    ///
    /// - Parameters:
    ///   - ready: is called once it listens.
    ///   - everySecond: gets the number of requests of the last second.
    package static func run(
        _ options: SimulatorOptions, log: Logger, ready: @Loop (SimulatedGateway) -> Void,
        everySecond: @escaping @Loop (SimulatedGateway, Int) -> Void = { _, _ in }
    ) async throws(SimulatorError) {
        let gateway = try await start(options, log: log)
        ready(gateway)
        var last = 0
        let clock = Timer { [unowned gateway] in
            let requests = gateway.counters.requests
            everySecond(gateway, max(0, requests - last))
            last = requests
        }
        clock.start(after: .seconds(1), every: .seconds(1))
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let end = End(continuation)
            gateway.onStop = { end.come() }
        }
        clock.stop()
        gateway.stop()
    }

    /// The first of several reasons to end.
    @Loop private final class End {
        private var continuation: CheckedContinuation<Void, Never>?
        private var watchers: [SignalWatcher] = []

        init(_ continuation: CheckedContinuation<Void, Never>) {
            self.continuation = continuation
            watchers = [SIGINT, SIGTERM].map { number in SignalWatcher(number) { [unowned self] in come() } }
        }

        func come() {
            continuation?.resume()
            continuation = nil
        }
    }
}
