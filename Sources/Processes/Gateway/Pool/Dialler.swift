import EventLoop
import Transport

/// Dials a gateway for a pool. A dial that is dropped while it is in progress reports no result.
@Loop final class Dialler {
    private static let rememberedDials = 8

    /// The number of dials since the start, successful or not.
    private(set) var begun = 0
    private(set) var inProgress = 0
    /// The durations of the last successful dials.
    private var times: [Duration] = []
    /// The number of calls of ``dropAll()``. If this number changes during a dial, the dial is dropped.
    private var epoch = 0

    /// The shortest duration of the last successful dials; nil if no dial has succeeded yet.
    var fastest: Duration? { times.min() }

    /// Forgets the dials in progress and the durations of earlier dials, because the settings have changed.
    func dropAll() {
        epoch += 1
        inProgress = 0
        times = []
    }

    /// Dials in a new task, and calls `ended` with the result if the dial was not dropped before.
    func dial(
        _ gatewaySettings: GatewaySettings,
        then ended: @escaping @Loop (Result<ByteStream, TransportError>) -> Void
    ) {
        inProgress += 1
        let epoch = epoch
        Loop.task {
            let result = await self.connect(gatewaySettings)
            guard epoch == self.epoch else {
                if case .success(let stream) = result { stream.close() }
                return
            }
            self.inProgress -= 1
            ended(result)
        }
    }

    private func connect(_ gatewaySettings: GatewaySettings) async -> Result<ByteStream, TransportError> {
        begun += 1
        let dial = Dial(
            .tcp(host: gatewaySettings.host, port: gatewaySettings.port), tls: gatewaySettings.tls,
            serverName: gatewaySettings.host, proxy: gatewaySettings.proxy,
            firstAddress: gatewaySettings.firstAddress + begun, timeout: gatewaySettings.dial.timeout)
        let (start, epoch) = (ContinuousClock.now, epoch)
        do {
            let stream = try await dial.connect()
            if epoch == self.epoch {
                times = times.suffix(Self.rememberedDials - 1) + [ContinuousClock.now - start]
            }
            return .success(stream)
        } catch {
            return .failure(error)
        }
    }
}
