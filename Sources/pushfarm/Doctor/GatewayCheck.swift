import Coordinator
import EventLoop
import FarmConfiguration
import Logging
import OpenSSL
import RedisClient
import Transport

/// Checks whether an app's gateway is reachable and genuine, and whether it accepts the app's credentials and topic.
@Loop struct GatewayCheck {
    let app: AppConfiguration
    let identity: TLSIdentity?
    /// The registry in Redis with the provider token that all hosts share. If nil, the check sends no push for an app
    /// with a signing key.
    let farmRedis: FarmRedis?
    /// Whether to send one push to a token that cannot exist, even if the gateway is Apple's.
    let isLive: Bool

    func findings() async -> [Finding] {
        var stream: ByteStream?
        let reached = await reach(&stream)
        guard let stream else { return [reached] }
        return [reached] + (await trial(over: stream).map { [$0] } ?? [])
    }

    /// Whether the gateway is on this machine. A gateway on this machine is a simulator and not Apple's gateway.
    private var isLoopback: Bool {
        let host = app.gateway.host
        return host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }

    /// - Parameter stream: the connection. The function closes the connection afterwards.
    private func trial(over stream: ByteStream) async -> Finding? {
        guard isLive || isLoopback else {
            stream.close()
            return nil
        }
        let port = app.gateway.port == 443 ? "" : ":\(app.gateway.port)"
        let host = app.gateway.host.contains(":") ? "[\(app.gateway.host)]" : app.gateway.host
        let words = TrialFinding(app: app)
        guard case .key(let file, let id, let team) = app.credentials else {
            let push = TrialPush(topic: app.topic)
            return words.finding(
                await push.send(over: stream, authority: host + port, providerToken: nil))
        }
        guard let farmRedis, let key = try? SigningKey(file: file) else {
            // Other checks report an unreachable Redis or an unusable key.
            stream.close()
            return nil
        }
        let silent = Logger(label: "doctor") { _ in SwiftLogNoOpLogHandler() }
        let tokens = ProviderTokens(
            key, keyID: id, teamID: team, gateway: app.gatewayEnvironment, farmRedis: farmRedis, log: silent)
        guard let token = await tokens.tokenForTrial() else {
            stream.close()
            return words.refusedBefore
        }
        let outcome = await TrialPush(topic: app.topic).send(
            over: stream, authority: host + port, providerToken: token)
        if case .refused(_, let reason) = outcome, ProviderTokens.isRefusal(reason) { await tokens.refuse() }
        return words.finding(outcome)
    }

    /// - Parameter stream: set to the connection when HTTP/2 works over the connection.
    private func reach(_ open: inout ByteStream?) async -> Finding {
        let name = "\(app.name) gateway"
        let place = app.gateway.description + (app.proxy.map { " through \($0)" } ?? "")
        let tls: TLSContext
        do {
            tls = try TLSContext(
                client: ClientSettings(
                    trust: app.caFile.map { .authorityFile($0) } ?? .system,
                    applicationProtocols: app.binary == nil ? ["h2"] : [], identity: identity))
        } catch {
            return Finding(name, .failed, "\(error)", advice: "Check ca_file.")
        }
        let start = ContinuousClock.now
        let dial = Dial(
            .tcp(host: app.gateway.host, port: app.gateway.port), tls: tls,
            proxy: app.proxy.map { .tcp(host: $0.hostPort.host, port: $0.hostPort.port) },
            timeout: .seconds(10))
        do {
            let stream = try await dial.connect()
            if app.binary != nil {
                stream.close()
                // The binary interface sends no greeting, so only the first push shows whether the gateway
                // supports the binary interface.
                return Finding(name, .ok, "\(place): TLS in \(Figures.time(.now - start))")
            }
            guard stream.applicationProtocol == "h2" else {
                stream.close()
                return Finding(
                    name, .failed, "\(place) does not speak HTTP/2",
                    advice: "Check the address of the gateway.")
            }
            open = stream
            return Finding(name, .ok, "\(place): TLS and HTTP/2 in \(Figures.time(.now - start))")
        } catch .tls(let error) {
            return Finding(
                name, .failed, "\(place): \(error)",
                advice: "Check that ca_file is the authority of this gateway and that the name is correct.")
        } catch {
            return Finding(
                name, .unreachable, "\(place): \(error)",
                advice: "Check name, network and firewall; behind a proxy set proxy: http://host:port.")
        }
    }
}

/// Checks whether an app with a binary gateway learns of invalid tokens, and whether its feedback service can be read.
@Loop struct FeedbackCheck {
    let app: AppConfiguration
    let configuration: Configuration
    private static let timeout = Duration.seconds(15)

    /// Returns nil for an app over HTTP/2, because its gateway reports invalid tokens in the responses.
    func finding() async -> Finding? {
        guard let binary = app.binary else { return nil }
        let name = "\(app.name) feedback"
        guard let place = binary.feedback else {
            return Finding(
                name, .warning, "no feedback service: invalid tokens are never suppressed",
                advice: "Configure it with feedback: tls://host:2196.")
        }
        do {
            let client = try await FarmClient.connect(configuration)
            defer { client.close() }
            let request = try await RequestedFeedback.send(app.name, over: client)
            guard let outcome = try await request.outcome(over: client, deadline: .now + Self.timeout) else {
                return Finding(
                    name, .warning, "\(place): no coordinator has read it",
                    advice: "Start the coordinator. Only the farm reads the service: a read deletes the list."
                )
            }
            guard outcome.error.isEmpty else {
                return Finding(
                    name, .unreachable, "\(place): \(outcome.error)",
                    advice: "Check name, network and firewall, and that the certificate belongs to the app.")
            }
            return Finding(name, .ok, "\(place): \(Figures.grouped(outcome.tuples)) invalid tokens read")
        } catch {
            return Finding(name, .unreachable, "\(place) was not read: \(error.message)")
        }
    }
}
