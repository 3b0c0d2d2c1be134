import EventLoop
import FarmConfiguration

/// Whether an app with a binary gateway learns of invalid tokens, and whether its feedback service can be read.
@Loop struct FeedbackCheck {
    let app: AppConfiguration
    let configuration: Configuration
    private static let patience = Duration.seconds(15)

    /// Nil for an app over HTTP/2, whose gateway says so of each push.
    func finding() async -> Finding? {
        guard let binary = app.binary else { return nil }
        let name = "\(app.name) feedback"
        guard let place = binary.feedback else {
            return Finding(
                name, .warning, "no feedback service: invalid tokens are never suppressed",
                advice: "Name it with feedback: tls://host:2196.")
        }
        do {
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            let request = try await FeedbackRequest.send(app.name, over: client)
            guard let outcome = try await request.outcome(over: client, deadline: .now + Self.patience) else {
                return Finding(
                    name, .warning, "\(place): no coordinator has read it",
                    advice: "Start the coordinator. Only the farm reads it: what was read is gone there.")
            }
            guard outcome.error.isEmpty else {
                return Finding(
                    name, .unreachable, "\(place): \(outcome.error)",
                    advice: "Check name, network and firewall, and whether the certificate is its app's.")
            }
            return Finding(name, .ok, "\(place): \(Figures.grouped(outcome.tuples)) invalid tokens read")
        } catch {
            return Finding(name, .unreachable, "\(place) was not read: \(error.message)")
        }
    }
}
