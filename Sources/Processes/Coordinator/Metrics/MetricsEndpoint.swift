import EventLoop
import Logging

/// The coordinator's metrics server, if the configuration has a place for one.
@Loop final class MetricsEndpoint {
    private let context: HostContext
    private let status: HostStatus
    private let metrics: HostMetrics
    private var server: MetricsServer?

    init(_ context: HostContext, _ status: HostStatus, _ metrics: HostMetrics) {
        (self.context, self.status, self.metrics) = (context, status, metrics)
    }

    func open() {
        guard let place = context.configuration.metrics else { return }
        let server = MetricsServer(place, log: context.log) { [metrics] in
            metrics.text
        } unready: { [status] in
            status.whyUnready
        }
        self.server = server
        server.open()
    }

    func close() { server?.close() }
}
