import ControlChannel
import EventLoop
import FarmConfiguration
import FarmPolicy
import StoreProtocol

/// Has an app's feedback service read, on schedule and on demand: by a worker, since what comes from the network is not
/// parsed beside the signing keys, and by one of all hosts, that of the intake.
@Loop final class FeedbackScheduler {
    private let context: AppContext
    private var reading: (name: String, worker: String, interval: Duration, failures: Int)?
    private var isAsking = false
    private var nextReading = ContinuousClock.now
    private var random = SystemRandomNumberGenerator()

    /// After so long a reading counts as lost, such as one that a coordinator began that has ended. Two that read at once
    /// share what there is, and both bring it to Redis.
    private static let limit = Duration.seconds(60)
    /// A request whose message was lost is seen no later.
    private static let longestWait = Duration.seconds(30)

    init(_ context: AppContext) { self.context = context }

    /// An operator or a host asks for a reading.
    func wake() { nextReading = .now }

    /// Begins a reading if one is due.
    ///
    /// - Parameter intake: the proof that the app's intake is this host's.
    func readIfDue(_ configuration: AppConfiguration, intake: FenceToken?) async {
        guard let intake, reading == nil, !isAsking, ContinuousClock.now >= nextReading,
            let binary = configuration.binary, let place = binary.feedback
        else { return }
        isAsking = true
        defer { isAsking = false }
        let name = Nonce.make()
        do throws(StoreError) {
            let begin = BeginFeedback(token: intake, reader: name, limit: Self.limit)
            switch try await context.store.perform(begin) {
            case .wait(let wait): nextReading = .now + min(wait, Self.longestWait)
            case .read(let failures):
                let order = FeedbackOrder(
                    app: context.name, host: place.host, port: place.port, reading: name,
                    shards: context.shards,
                    limit: context.retention.suppressed)
                let worker = context.services.orderWorker(.feedback(order))
                reading = (name, worker ?? "", binary.feedbackInterval, failures)
                if worker == nil { await ended(name, tuples: 0, error: "no worker is ready") }
            }
        } catch {
            nextReading = .now + .seconds(1)
        }
    }

    /// A worker has said how its reading ended.
    func ended(_ name: String, tuples: Int, error: String) async {
        guard let reading, reading.name == name else { return }
        self.reading = nil
        nextReading = .now
        var next = reading.interval
        if error.isEmpty {
            context.log.info("feedback read", metadata: ["tokens": "\(tuples)"])
        } else {
            var pause = BackOff(first: .seconds(5), longest: .seconds(600))
            for _ in 0..<min(reading.failures, 16) { _ = pause.failed(using: &random) }
            next = min(next, pause.failed(using: &random))
            context.log.warning(
                "feedback service not read to its end",
                metadata: ["tokens": "\(tuples)", "reason": "\(error)"])
        }
        let end = EndFeedback(reader: name, tuples: tuples, next: next, error: error)
        do throws(StoreError) { try await context.store.performWithRetries(end, within: Self.limit) } catch {
            context.log.warning("cannot record the result of reading feedback", error: error)
        }
    }

    /// A worker has ended, and with it what it was reading.
    func workerEnded(_ worker: String) async {
        guard let reading, reading.worker == worker else { return }
        await ended(reading.name, tuples: 0, error: "the worker that read it ended")
    }
}
