import EventLoop
import StoreProtocol

extension FarmClient {
    /// The error for an unknown job: also the names of those that `pushfarm push` made of it, if it had more tokens than an
    /// app takes at a time.
    func noJob(_ id: String, in apps: [String]) async throws(CommandFailure) -> CommandFailure {
        var last: Account?
        var count = 0
        while count < 10_000, let next = try await accounts(ofJob: "\(id).\(count + 1)", in: apps).first {
            (last, count) = (next, count + 1)
        }
        let place = apps.isEmpty ? "this farm" : apps.joined(separator: ", ")
        guard let last else { return .failed("there is no job \(id) in \(place)") }
        let names = count == 1 ? last.id : "\(id).1 to \(last.id)"
        return .failed(
            "there is no job \(id) in \(place), but \(names): push made them of it, and each is a job of its own"
        )
    }
}
