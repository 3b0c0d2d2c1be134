import ControlChannel
import EventLoop
import FarmPolicy
import FarmStore
import Logging

/// A shard whose owner is stuck.
extension Coordinator {
    /// Takes a shard with a new token: its owner's steps are refused from then on. What the owner has in the air may be sent
    /// twice, and is counted as such.
    func takeOver(
        _ name: String, _ shard: Int, isForced: Bool, _ isDry: Bool
    ) async throws(OperationRefusal) -> String {
        guard let app = apps[name] else {
            throw OperationRefusal("\(configuration.host) does not serve \(name)")
        }
        guard shard < configuration.shards else {
            throw OperationRefusal("there is no shard \(shard): there are \(configuration.shards)")
        }
        if app.leases.tokens[shard] != nil { return "shard \(shard) of \(name) is ours already" }
        let (owner, left) = try await owner(of: shard, app)
        if let owner, left > .zero, !isForced {
            throw OperationRefusal(
                "\(owner) owns it, and its lease has \(left.milliseconds) ms to go: --force takes it")
        }
        if isDry { return "would take shard \(shard) of \(name) from \(owner ?? "nobody")" }
        // Otherwise it would go back to its owner.
        await keep(Pins.name(app: name, shard: shard), configuration.host)
        await follow()
        app.leases.seize(shard)
        leaseBell.ring()
        let isOurs = await changes.until(.now + .seconds(10)) { app.leases.served[shard] != nil }
        guard isOurs else { throw .failed("shard \(shard) of \(name) is not ours yet, see the log") }
        log.warning(
            "shard taken over", metadata: ["app": "\(name)", "shard": "\(shard)", "from": "\(owner ?? "")"])
        return "shard \(shard) of \(name) is with \(configuration.host) now"
    }

    private func owner(of shard: Int, _ app: HostedApp) async throws(OperationRefusal) -> (String?, Duration)
    {
        do {
            let owners = try await app.store.perform(ReadOwners())
            guard let token = owners.fields[.shard(shard)] else { return (nil, .zero) }
            let now = try await registry.time()
            return (token.host, .milliseconds((owners.leaseEnds[token.nonce] ?? 0) - now))
        } catch {
            throw OperationRefusal("Redis: \(error)")
        }
    }
}
