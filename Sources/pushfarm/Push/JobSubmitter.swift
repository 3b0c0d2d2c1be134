import EventLoop
import RedisClient
import StoreProtocol

/// Submits jobs. While the farm is full, waits up to a timeout, as every producer should.
@Loop struct JobSubmitter {
    let client: FarmClient
    let app: String
    /// The longest wait for one job.
    var timeout: Duration

    func submit(_ id: String, _ job: [UInt8]) async throws(CommandFailure) {
        let deadline = ContinuousClock.now + timeout
        let request = SubmitJob(job: job, id: id)
        while true {
            switch try await self.submit(request) {
            case .accepted: return
            case .duplicate: throw .failed("job \(id) is open, or was submitted within the last 24 hours")
            case .refused(let reason): throw .failed("job \(id) would be refused: \(reason)")
            case .busy(let pause, let reason):
                guard ContinuousClock.now + pause <= deadline else {
                    throw .temporary(
                        "\(client.redisAddress): \(FullReason.words(reason, app)); job \(id) was not sent. Try again later"
                    )
                }
                do { try await Loop.sleep(for: pause) } catch { throw .failed("interrupted") }
            }
        }
    }

    /// Submits a job once, without a retry.
    func submit(_ request: SubmitJob) async throws(CommandFailure) -> SubmitJob.Reply {
        do throws(StoreError) {
            return try await AppRedis(app: app, connection: client.redis).perform(request)
        } catch .redis(.waitAndRepeat(let error)) where error.code == "OOM" {
            return .busy(retryAfter: .seconds(1), reason: "Redis's memory is used up")
        } catch .redis(.refused(let error)) where error.message.contains("Function not found") {
            // No coordinator has run with this Redis yet. The job waits in the inbox for the first coordinator.
            return .accepted(waiting: try await client.call(PushJob(job: request.job), app))
        } catch {
            guard error.isTemporary else { throw .failed("\(client.redisAddress): \(error)") }
            throw .temporary(
                "\(client.redisAddress): \(error). Job \(request.id) may have been submitted; a retry with the same --id is safe"
            )
        }
    }
}
