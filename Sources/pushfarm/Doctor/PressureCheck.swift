import EventLoop
import StoreProtocol

/// Whether producers can submit jobs, and how.
@Loop struct PressureCheck {
    let client: FarmClient

    func findings() async throws(CommandFailure) -> [Finding] {
        var findings = [try await function()]
        let shards = try await client.ask { registry throws(RedisError) in try await registry.fixedShards() }
        for app in client.configuration.apps {
            let faults = try await client.call(ReadFaults(shards: shards ?? 0), app.name)
            findings += Self.findings(faults, of: app.name)
            // What can be asked of a key of the wrong type has been said.
            guard faults.wrongTypes.isEmpty else { continue }
            guard let full = try await client.call(ReadStanding(), app.name).full else { continue }
            findings.append(
                Finding(
                    app.name, .warning, "full: \(full.reason.text)",
                    advice: full.reason == .memory
                        ? "Give Redis more memory, or wait: accepted jobs are still sent."
                        : "Let it drain, or raise the app's limit in the configuration."))
        }
        return findings
    }

    private static func findings(_ faults: ReadFaults.Reply, of app: String) -> [Finding] {
        faults.wrongTypes.map {
            Finding(
                app, .failed, "the Redis key \($0.text)",
                advice: "Rename the key (RENAME) and find out who wrote it; the app then continues by itself."
            )
        }
            + faults.unreadableWords.map {
                Finding(
                    app, .warning, $0,
                    advice: "Look with pushfarm debug fsck, then pushfarm debug fsck --repair --app \(app).")
            }
    }

    private func function() async throws(CommandFailure) -> Finding {
        let check = "redis function"
        let library = try await client.ask { registry throws(RedisError) in
            try await registry.functionLibrary()
        }
        guard let library else {
            return Finding(
                check, .warning, "\(FunctionLibrary.submit) is not loaded",
                advice: "A coordinator loads it when it starts; until then producers can only RPUSH.")
        }
        let (theirs, ours) = (
            FunctionLibrary.version(of: library), FunctionLibrary.version(of: FunctionLibrary.text)
        )
        guard theirs >= ours else {
            return Finding(
                check, .warning, "\(FunctionLibrary.submit) has version \(theirs), older than \(ours)",
                advice: "A coordinator of this release replaces it when it starts.")
        }
        return Finding(check, .ok, "\(FunctionLibrary.submit), version \(theirs)")
    }
}
