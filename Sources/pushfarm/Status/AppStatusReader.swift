import EventLoop
import StoreProtocol

/// Reads what Redis holds of an app. While a key of it has the wrong type, what cannot be read is left out: the key is named.
@Loop struct AppStatusReader {
    let app: String
    let client: FarmClient
    let hasFaults: Bool

    func read<Step: Request>(
        _ request: Step, else instead: Step.Reply
    ) async throws(CommandFailure) -> Step.Reply {
        do { return try await client.call(request, app) } catch {
            guard hasFaults, error.status != .temporary else { throw error }
            return instead
        }
    }

    /// The fields of a job record; none if there is no such record, or it cannot be read.
    func readRecord(of job: String) async throws(CommandFailure) -> [String: String] {
        do { return try await client.call(ReadJobRecord(job: job), app) } catch {
            guard error.status != .temporary else { throw error }
            return [:]
        }
    }
}
