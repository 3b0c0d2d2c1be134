import EventLoop
import FarmConfiguration
import TLS
import Transport

/// Whether an app's gateway can be reached and is who it should be. Sends nothing.
@Loop struct GatewayCheck {
    let app: AppConfiguration
    let identity: TLSIdentity?

    func finding() async -> Finding {
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
            proxy: app.proxy.map { .tcp(host: $0.place.host, port: $0.place.port) }, timeout: .seconds(10))
        do {
            let stream = try await dial.connect()
            defer { stream.close() }
            if app.binary != nil {
                // It says nothing of itself: what it speaks shows with the first push.
                return Finding(name, .ok, "\(place): TLS in \(Figures.time(.now - start))")
            }
            guard stream.applicationProtocol == "h2" else {
                return Finding(
                    name, .failed, "\(place) does not speak HTTP/2",
                    advice: "Is this the address of a push gateway?")
            }
            return Finding(name, .ok, "\(place): TLS and HTTP/2 in \(Figures.time(.now - start))")
        } catch .tls(let error) {
            return Finding(
                name, .failed, "\(place): \(error)",
                advice: "Is ca_file the authority of this gateway, and is its name right?")
        } catch {
            return Finding(
                name, .unreachable, "\(place): \(error)",
                advice: "Check name, network and firewall; behind a proxy set proxy: http://host:port.")
        }
    }
}
