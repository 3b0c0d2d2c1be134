import EventLoop
import StoreProtocol

/// `takeover`: takes a shard from an owner that hangs.
///
/// The shard gets a new fencing token, so Redis refuses all further writes of the old owner for the shard. Pushes that
/// the old owner has in flight may be sent a second time, so they are counted as possibly duplicated.
@Loop struct TakeoverOperation {
    unowned let context: HostContext

    func run(
        _ name: String, _ shard: Int, isForced: Bool, _ isDry: Bool
    ) async throws(OperationRefusal) -> String {
        guard let app = context.apps[name] else {
            throw OperationRefusal("\(context.host) does not serve \(name)")
        }
        guard shard < context.shardCount else {
            throw OperationRefusal(
                "there is no shard \(shard): this farm has \(context.shardCount) shards, numbered from 0")
        }
        if app.leases.machine.fenceTokens[shard] != nil {
            return "shard \(shard) of \(name) is already on this host"
        }
        let (owner, remaining) = try await owner(of: shard, app)
        if let owner, remaining > .zero, !isForced {
            throw OperationRefusal(
                "\(owner) owns it, and its lease has \(remaining.milliseconds) ms left: --force takes it")
        }
        if isDry { return "would take shard \(shard) of \(name) from \(owner ?? "nobody")" }
        // Without a pin, the new owner would hand the shard back to the host that should own it.
        await context.desired.pin(shard, of: name)
        app.leases.machine.takeFromOwner(.shard(shard))
        context.leases.wake()
        let isOurs = await context.changes.until(.now + .seconds(10)) {
            app.leases.machine.served[shard] != nil
        }
        guard isOurs else {
            throw .failed("this host does not serve shard \(shard) of \(name) yet: see the log")
        }
        context.log.warning(
            "shard taken over", metadata: ["app": "\(name)", "shard": "\(shard)", "from": "\(owner ?? "")"])
        return "shard \(shard) of \(name) is with \(context.host) now"
    }

    private func owner(of shard: Int, _ app: HostedApp) async throws(OperationRefusal) -> (String?, Duration)
    {
        do {
            let owners = try await app.store.perform(ReadOwners())
            guard let token = owners.leases[.shard(shard)] else { return (nil, .zero) }
            let now = try await context.farmRedis.time()
            return (token.host, .milliseconds((owners.leaseEnds[token.nonce] ?? 0) - now))
        } catch {
            throw OperationRefusal("Redis: \(error)")
        }
    }
}
