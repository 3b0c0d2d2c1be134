import ControlChannel
import EventLoop
import FarmConfiguration
import FarmPolicy
import StoreProtocol

/// Makes a worker read an app's feedback service at regular intervals and when an operator requests it. The coordinator
/// does not read the service itself: it holds the signing keys, so it must not parse data from the network. Only the
/// host that has the app's intake schedules readings.
@Loop final class FeedbackScheduler {
    private let context: AppContext
    private var reading: (name: String, worker: String, interval: Duration, failures: Int)?
    private var isAsking = false
    private var nextReading = ContinuousClock.now
    private var random = SystemRandomNumberGenerator()

    /// The longest time of a reading. A reading that takes longer counts as lost, because the coordinator that ordered
    /// the reading may have exited. If the lost reading still runs during the next reading, no tokens are lost: the
    /// service sends each token to one of the two readings, and both readings write their tokens to Redis.
    private static let limit = Duration.seconds(60)
    /// The longest time between two checks whether a reading is due. A check does not only follow a wake-up, because a
    /// wake-up may be lost.
    private static let longestWait = Duration.seconds(30)

    init(_ context: AppContext) { self.context = context }

    /// Makes the next check ask Redis at once, because an operator or a host has requested a reading.
    func wake() { nextReading = .now }

    /// Orders a worker to read the feedback service if a reading is due.
    ///
    /// - Parameter intake: the fencing token of the app's intake; nil if another host has the intake.
    func readIfDue(_ configuration: AppConfiguration, intake: FenceToken?) async {
        guard let intake, reading == nil, !isAsking, ContinuousClock.now >= nextReading,
            let binary = configuration.binary, let address = binary.feedback
        else { return }
        isAsking = true
        defer { isAsking = false }
        let name = Nonce.make()
        do throws(StoreError) {
            let begin = BeginFeedback(token: intake, reader: name, limit: Self.limit)
            switch try await context.store.perform(begin) {
            case .wait(let wait): nextReading = .now + min(wait, Self.longestWait)
            case .read(let failures):
                let request = FeedbackRequest(
                    app: context.name, host: address.host, port: address.port, reading: name,
                    shards: context.shards,
                    limit: context.retention.suppressed)
                let worker = context.shared.notifyOneWorker(.feedback(request))
                reading = (name, worker ?? "", binary.feedbackInterval, failures)
                if worker == nil { await ended(name, tuples: 0, error: "no worker is ready") }
            }
        } catch {
            // Redis did not reply or refused the request, so ask again in a second.
            nextReading = .now + .seconds(1)
        }
    }

    /// Records the result of a reading that a worker has reported.
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
                "reading of the feedback service failed",
                metadata: ["tokens": "\(tuples)", "reason": "\(error)"])
        }
        let end = EndFeedback(reader: name, tuples: tuples, next: next, error: error)
        do throws(StoreError) { try await context.store.performWithRetries(end, within: Self.limit) } catch {
            context.log.warning("cannot record the result of a feedback reading", error: error)
        }
    }

    /// Ends the reading of a worker that has exited.
    func workerEnded(_ worker: String) async {
        guard let reading, reading.worker == worker else { return }
        await ended(reading.name, tuples: 0, error: "the worker that read it ended")
    }
}
